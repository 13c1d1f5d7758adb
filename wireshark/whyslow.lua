-- Why slow?  Says in Wireshark why TCP transfers were slow. Needs the program `whyslow`.
--
-- Copy this file to Wireshark's personal Lua plugins (Help > About Wireshark > Folders). Then
--   Tools > Why slow? > Shown packets     explains what the display filter shows,
--   Tools > Why slow? > One stream...     asks for a tcp.stream,
--   a packet's menu > Why slow?           explains its stream (Wireshark 4.2 and later).
-- With tshark it prints the same at the end:
--   tshark -q -r FILE -X lua_script:whyslow.lua -X lua_script1:why-slow [-X lua_script1:stream=N] [-X lua_script1:filter=EXPR]
--
-- No interface gives the open file's name. So packets are written to a temporary capture, whyslow
-- reads it, and its frames and streams are translated back. Runs on Lua 5.2 to 5.4.

local IN_WIRESHARK = gui_enabled()
local ARGUMENTS = { ... }
if not IN_WIRESHARK and #ARGUMENTS == 0 then
    return -- tshark, which was not asked to explain
end

local ON_WINDOWS = package.config:sub(1, 1) == "\\"
local MOST_CONNECTIONS = 20 -- connections printed
local MOST_BUTTONS = 8 -- findings with a button
local MOST_STREAMS = 64 -- streams named in a filter

-- The folder of plugins and -X may both name this file; preferences are registered once.
local preferences = rawget(_G, "whyslow_preferences")
local is_second = preferences ~= nil
if not is_second then
    local proto = Proto("whyslow", "Why slow?")
    preferences = proto.prefs
    preferences.program = Pref.string("Program", "whyslow", "The program whyslow: its name if it is on PATH, else its path")
    preferences.folder = Pref.string("Temporary folder", "",
        "Where packets are written while whyslow reads them; empty: the system's temporary folder")
    rawset(_G, "whyslow_preferences", preferences)
end

local stream_of = Field.new("tcp.stream")
local link_of = Field.new("frame.encap_type")

-- JSON ---------------------------------------------------------------------------------------

local ESCAPES = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

-- UTF-8 of a character of the basic plane.
local function utf8_of(hex)
    local code = tonumber(hex, 16)
    if code < 0x80 then
        return string.char(code)
    elseif code < 0x800 then
        return string.char(0xC0 + math.floor(code / 64), 0x80 + code % 64)
    end
    return string.char(0xE0 + math.floor(code / 4096), 0x80 + math.floor(code / 64) % 64, 0x80 + code % 64)
end

local function unescaped(text)
    text = text:gsub("\\(.)(%x?%x?%x?%x?)", function(letter, hex)
        if letter == "u" then
            return utf8_of(hex)
        end
        return (ESCAPES[letter] or letter) .. hex
    end)
    return text
end

local json_value -- forward

-- The end of the string whose quotation mark is at `at`.
local function json_string(text, at)
    local from = at + 1
    while true do
        local stop = text:find('["\\]', from)
        if not stop then
            error("a string has no end")
        elseif text:sub(stop, stop) == '"' then
            return unescaped(text:sub(at + 1, stop - 1)), stop + 1
        end
        from = stop + 2
    end
end

-- The members between brackets: an array's values, or an object's by their names.
local function json_members(text, at, closing)
    local members = {}
    at = text:match("^%s*()", at + 1)
    while text:sub(at, at) ~= closing do
        local name = #members + 1
        if closing == "}" then
            name, at = json_string(text, at)
            at = text:match("^%s*:%s*()", at)
        end
        members[name], at = json_value(text, at)
        at = text:match("^%s*,?%s*()", at)
        if at > #text then
            error("it ends early")
        end
    end
    return members, at + 1
end

-- The value at `at`, and where the text goes on. null is nil, and left out of an array.
function json_value(text, at)
    local first = text:sub(at, at)
    if first == "{" then
        return json_members(text, at, "}")
    elseif first == "[" then
        return json_members(text, at, "]")
    elseif first == '"' then
        return json_string(text, at)
    end
    local word, stop = text:match("^([%w%.%+%-]+)()", at)
    if word == "null" then
        return nil, stop
    elseif word == "true" or word == "false" then
        return word == "true", stop
    end
    return tonumber(word) or error("neither a value nor a number at byte " .. at), stop
end

-- Packets ------------------------------------------------------------------------------------

-- One word of a command line, whatever is in it.
local function quoted(word)
    if not ON_WINDOWS then
        return "'" .. word:gsub("'", "'\\''") .. "'"
    elseif word:find('["%%!\r\n]') then
        error("The name " .. word .. " has a character that cmd.exe would take for its own: choose another name.", 0)
    end
    return '"' .. word .. '"'
end

local function contents(path)
    local file = io.open(path, "rb")
    if not file then
        return ""
    end
    local text = file:read("*a")
    file:close()
    return text
end

local function unwritable(folder, why)
    error("The packets cannot be written to " .. folder .. ": " .. why
        .. "\nSet another temporary folder in Preferences > Protocols > WHYSLOW.", 0)
end

-- A new folder for this user alone, with an empty file for the packets: another user cannot have
-- made it and cannot read it (mktemp makes it with mode 0700, and the file has 0600).
local function temporary_folder()
    local parent = preferences.folder
    if ON_WINDOWS then
        -- The user's own folder.
        parent = parent ~= "" and parent or os.getenv("TEMP") or "."
        local folder = parent .. "\\whyslow-" .. os.tmpname():gsub("[^%w]", "") .. os.time()
        if not os.execute("mkdir " .. quoted(folder)) then
            unwritable(parent, "mkdir failed")
        end
        return folder
    end
    parent = parent ~= "" and parent or os.getenv("TMPDIR") or ""
    parent = parent ~= "" and parent or "/tmp"
    local pipe = io.popen("umask 077; folder=$(mktemp -d " .. quoted(parent .. "/whyslow-XXXXXXXX")
        .. " 2>&1) && : >\"$folder/packets.pcap\" && printf %s \"$folder\" || printf '\\n%s' \"$folder\"", "r")
    local said = pipe:read("*a")
    pipe:close()
    if said == "" or said:sub(1, 1) == "\n" then
        unwritable(parent, said:sub(2))
    end
    return said
end

-- pcap in nanoseconds: Dumper writes pcap in microseconds by itself, and pcapng in whole seconds.
local function nanosecond_pcap()
    return wtap_name_to_file_type_subtype and wtap_name_to_file_type_subtype("nsecpcap") or wtap_filetypes.PCAP_NSEC
end

-- The copy of the packets that a tap sees, and what they were in the open file: the number and the
-- stream of each packet written, in order.
local function new_copy()
    return { frames = {}, streams = {}, left_out = 0 }
end

local function open_copy(copy, link)
    copy.folder = temporary_folder()
    copy.path = copy.folder .. package.config:sub(1, 1) .. "packets.pcap"
    local opened, dumper = pcall(Dumper.new, copy.path, nanosecond_pcap(), link)
    if not opened then
        unwritable(copy.path, tostring(dumper))
    end
    copy.link, copy.dumper = link, dumper
end

-- A pcap has one link type: packets of another one are counted, and so is what is no packet.
local function add_packet(copy, number)
    local link = link_of()
    link = link and link.value
    if link and not copy.dumper then
        open_copy(copy, link)
    end
    if link ~= copy.link or not link or not pcall(copy.dumper.dump_current, copy.dumper) then
        copy.left_out = copy.left_out + 1
        return
    end
    -- In a tunnel the innermost stream is the last.
    local streams = { stream_of() }
    copy.frames[#copy.frames + 1] = number
    copy.streams[#copy.frames] = #streams > 0 and streams[#streams].value or nil
end

local function close_copy(copy)
    if copy.dumper then
        copy.dumper:close()
        copy.dumper = nil
    end
end

local function remove_copy(copy)
    close_copy(copy)
    if copy.folder then
        os.remove(copy.path)
        os.remove(copy.path .. ".err")
        if ON_WINDOWS then
            os.execute("rmdir " .. quoted(copy.folder))
        else
            os.remove(copy.folder)
        end
        copy.folder, copy.path = nil, nil
    end
end

-- The program --------------------------------------------------------------------------------

local function not_found(program)
    return "The program " .. program .. " is not found or cannot be started. Install whyslow, or set its path in "
        .. "Preferences > Protocols > WHYSLOW (tshark: -o whyslow.program:PATH)."
end

-- Puts the sentences of an analysis next to its data: they come in the order of the data.
local function attach_words(analysis)
    local words, at = analysis.words.en, {}
    local function take(kind)
        at[kind] = (at[kind] or 0) + 1
        return words[kind][at[kind]]
    end
    for _, capture in ipairs(analysis.captures) do
        for _, problem in ipairs(capture.problems) do
            problem.words = take("problems")
        end
    end
    for _, connection in ipairs(analysis.connections) do
        for _, problem in ipairs(connection.problems) do
            problem.words = take("problems")
        end
        for _, transfer in ipairs(connection.transfers) do
            transfer.words = take("verdicts")
            for _, finding in ipairs(transfer.findings) do
                finding.words = take("findings")
            end
        end
        for _, finding in ipairs(connection.findings) do
            finding.words = take("findings")
        end
    end
    for _, finding in ipairs(analysis.findings) do
        finding.words = take("findings")
    end
end

-- The findings of a capture, as a table.
local function analysis_of(path)
    local program = preferences.program ~= "" and preferences.program or "whyslow"
    local complaints = path .. ".err"
    local command = quoted(program) .. " " .. quoted(path) .. " --json --words 2>" .. quoted(complaints)
    -- cmd.exe takes off the first and the last quotation mark.
    local pipe = io.popen(ON_WINDOWS and '"' .. command .. '"' or command, "r")
    local output = pipe:read("*a")
    local _, _, code = pipe:close()
    local complaint = contents(complaints):gsub("%s+$", "")
    os.remove(complaints)
    if output == "" and (code == 126 or code == 127 or code == 9009 or (ON_WINDOWS and code == 1)) then
        error(not_found(program), 0)
    elseif code ~= 0 then
        error(program .. " ended with status " .. tostring(code) .. ":\n" .. complaint, 0)
    end
    local read, analysis = pcall(json_value, output, 1)
    if not read or type(analysis) ~= "table" or analysis.schema ~= "whyslow/2" then
        error(program .. " does not print the JSON of whyslow. Set the right program in Preferences > Protocols > WHYSLOW.", 0)
    elseif analysis.connections[1] and not analysis.connections[1].first_frame then
        error(program .. " is too old for this plugin: its JSON has no first_frame. Install the whyslow that came with it.", 0)
    end
    attach_words(analysis)
    return analysis
end

-- Display filters ----------------------------------------------------------------------------

-- Adds to a list what is not in it.
local function add_once(list, text)
    for _, one in ipairs(list) do
        if one == text then
            return
        end
    end
    list[#list + 1] = text
end

-- What shows a finding's evidence: its frames, or all packets of its streams if it names none.
local function filter_of(finding, frames, streams)
    local of_streams
    if #streams > 0 and #streams <= MOST_STREAMS then
        of_streams = "tcp.stream in {" .. table.concat(streams, ", ") .. "}"
    end
    local single, ranges = {}, {}
    for _, evidence in ipairs(finding.evidence) do
        local of = evidence.frames
        if #of == 2 then
            add_once(ranges, string.format("%d..%d", frames[of[1]], frames[of[2]]))
        else
            for _, frame in ipairs(of) do
                add_once(single, string.format("%d", frames[frame]))
            end
        end
    end
    local parts = {}
    if #single > 0 then
        parts[1] = "frame.number in {" .. table.concat(single, ", ") .. "}"
    end
    if #ranges > 0 then
        local range = "frame.number in {" .. table.concat(ranges, ", ") .. "}"
        parts[#parts + 1] = of_streams and "(" .. of_streams .. " and " .. range .. ")" or range
    end
    if #parts == 0 then
        return of_streams or "tcp"
    end
    return table.concat(parts, " or ")
end

-- Text ---------------------------------------------------------------------------------------

local function thousands(count)
    local text = string.format("%.0f", count)
    local head, rest = text:match("^(%-?%d%d?%d?)(.*)$")
    while #rest % 3 ~= 0 do
        head, rest = text:sub(1, #head - 1), text:sub(#head)
    end
    return head .. rest:gsub("(%d%d%d)", ",%1")
end

local function figure(value)
    if not value then
        return "unknown"
    elseif value == math.floor(value) and math.abs(value) < 1e15 then
        return thousands(value)
    end
    return string.format("%.4g", value)
end

local function counted(count, noun)
    return thousands(count) .. " " .. noun .. (count == 1 and "" or "s")
end

local function seconds(value)
    if value < 1 then
        return string.format("%.3g ms", value * 1000)
    end
    return string.format("%.3f s", value)
end

local function likelihood(confidence)
    return confidence >= 0.9 and "certain" or confidence >= 0.6 and "likely" or "possible"
end

-- `host:port`, the name where one is known.
local function ends_of(connection)
    local function one(endpoint)
        local host = endpoint.name or endpoint.address
        return (host:find(":") and "[" .. host .. "]" or host) .. ":" .. string.format("%d", endpoint.port)
    end
    return one(connection.client) .. " → " .. one(connection.server)
end

-- The frames of a piece of evidence, as numbered in the open file.
local function frames_named(of, frames)
    local named = {}
    for _, frame in ipairs(of) do
        named[#named + 1] = string.format("%d", frames[frame])
    end
    if #named == 0 then
        return ""
    end
    return (#named == 1 and "   frame " or "   frames ") .. table.concat(named, #named == 2 and "–" or ", ")
end

-- A report: `lines` to show, and the display filter of each finding.
local function add_finding(report, finding, streams)
    local lines, frames = report.lines, report.copy.frames
    local filter = filter_of(finding, frames, streams)
    report.filters[#report.filters + 1] = filter
    local function add(text)
        lines[#lines + 1] = text
    end
    add(string.format("  [%d] %s   %s   %s", #report.filters, finding.cause, seconds(finding.cost_s),
        likelihood(finding.confidence)))
    local words = finding.words
    add("      " .. words.summary)
    for index, evidence in ipairs(finding.evidence) do
        add("      evidence   " .. words.evidence[index][1] .. ": " .. figure(evidence.value) .. " " .. words.evidence[index][2]
            .. frames_named(evidence.frames, frames))
    end
    add("      filter     " .. filter)
    for index, remedy in ipairs(finding.remedies) do
        add((index == 1 and "      fix        " or "      or         ") .. remedy.actor .. ": " .. words.remedies[index])
        local command = remedy.commands[remedy.platform or "linux"]
        if command then
            add("                 " .. command)
        end
        if index == 1 and words.verify then
            add("      verify     " .. words.verify)
        end
        if remedy.predicted_s then
            local range = remedy.predicted_range_s
            local text = range and string.format(" (%s to %s)", seconds(range[1]), seconds(range[2])) or ""
            add("      if fixed   " .. seconds(remedy.predicted_s) .. text)
        end
    end
end

-- Problems name frames of the copy, and its snapshot length, which is not the open file's.
local function add_problems(report, problems)
    for _, problem in ipairs(problems) do
        local detail = problem.words:gsub("(frame )(%d+)", function(word, frame)
            local number = report.copy.frames[tonumber(frame)]
            return number and word .. string.format("%d", number)
        end):gsub(" %(snapshot length: [^)]*%)", "")
        report.lines[#report.lines + 1] = "  note   " .. problem.slug .. ": " .. detail
    end
end

-- All findings of a connection with what each is about; those that cost most come first.
local function findings_of(connection)
    local all = {}
    for _, finding in ipairs(connection.findings) do
        all[#all + 1] = finding
    end
    for _, transfer in ipairs(connection.transfers) do
        for _, finding in ipairs(transfer.findings) do
            all[#all + 1] = finding
        end
    end
    table.sort(all, function(a, b) return a.cost_s > b.cost_s end)
    return all
end

-- The transfer that took longest, in a line.
local function longest_transfer(connection)
    local longest
    for _, transfer in ipairs(connection.transfers) do
        if not longest or transfer.duration_s > longest.duration_s then
            longest = transfer
        end
    end
    if not longest then
        return "  no payload was transferred"
    end
    return string.format("  longest of %s: %s B from the %s in %s; %s",
        counted(connection.transfers_total, "transfer"), thousands(longest.bytes), longest.from,
        seconds(longest.duration_s), longest.verdict)
end

local function add_connection(report, connection, findings)
    local stream = report.copy.streams[connection.first_frame]
    local lines = report.lines
    lines[#lines + 1] = ""
    lines[#lines + 1] = (stream and "tcp.stream " .. string.format("%d", stream) .. "   " or "") .. ends_of(connection)
    lines[#lines + 1] = longest_transfer(connection)
    for _, finding in ipairs(findings) do
        add_finding(report, finding, { stream })
    end
    add_problems(report, connection.problems)
end

-- Connections with what was found of each; those that lost most come first.
local function ranked(analysis)
    local all = {}
    for place, connection in ipairs(analysis.connections) do
        local findings = findings_of(connection)
        all[place] = { connection = connection, findings = findings, place = place }
        all[place].lost = findings[1] and findings[1].cost_s or -1
    end
    table.sort(all, function(a, b)
        if a.lost ~= b.lost then
            return a.lost > b.lost
        end
        return a.place < b.place
    end)
    return all
end

-- Findings over several connections.
local function add_across(report, analysis)
    local streams_by_id = {}
    for _, connection in ipairs(analysis.connections) do
        streams_by_id[connection.id] = report.copy.streams[connection.first_frame]
    end
    for _, finding in ipairs(analysis.findings) do
        local streams = {}
        for _, id in ipairs(finding.connections or {}) do
            streams[#streams + 1] = streams_by_id[id]
        end
        report.lines[#report.lines + 1] = ""
        report.lines[#report.lines + 1] = "over " .. counted(#(finding.connections or {}), "connection")
        add_finding(report, finding, streams)
    end
end

-- What is shown of an analysis of a copy.
local function report_of(analysis, copy)
    local report = { lines = {}, filters = {}, copy = copy }
    local frames, lines = copy.frames, report.lines
    lines[1] = string.format("Why slow?   %s, frames %d–%d, %s", counted(#frames, "packet"), frames[1],
        frames[#frames], counted(#analysis.connections, "TCP connection"))
    if copy.left_out > 0 then
        lines[2] = "  note   " .. counted(copy.left_out, "record")
            .. " left out: of another link type than the first packet, or no packet"
    end
    for _, capture in ipairs(analysis.captures) do
        add_problems(report, capture.problems)
    end
    if #analysis.connections == 0 then
        lines[#lines + 1] = "There is no TCP among these packets: change the display filter, or open another file."
    end
    add_across(report, analysis)
    for place, one in ipairs(ranked(analysis)) do
        if place > MOST_CONNECTIONS then
            lines[#lines + 1] = ""
            lines[#lines + 1] = "… " .. counted(#analysis.connections - MOST_CONNECTIONS, "more connection")
                .. ", which lost less: filter for them, and ask again"
            break
        end
        add_connection(report, one.connection, one.findings)
    end
    return report
end

-- Explains a copy, which is removed whatever happens.
local function explained(copy)
    local done, result = pcall(function()
        close_copy(copy)
        if copy.wrong then
            error(copy.wrong, 0)
        elseif #copy.frames == 0 then
            error("There is no packet to explain: open a capture, and check the filter.", 0)
        end
        return report_of(analysis_of(copy.path), copy)
    end)
    remove_copy(copy)
    return done, result
end

-- A tap that copies the packets that pass `filter`.
local function tap(filter)
    local made, listener = pcall(Listener.new, "frame", filter)
    if not made then
        error("The filter " .. tostring(filter) .. " is not understood: " .. tostring(listener), 0)
    end
    local state = { copy = new_copy() }
    function listener.packet(pinfo)
        local copy = state.copy
        if not copy.wrong then
            local done, wrong = pcall(add_packet, copy, pinfo.number)
            copy.wrong = not done and wrong or nil
        end
    end
    function listener.reset()
        remove_copy(state.copy)
        state.copy = new_copy()
    end
    return listener, state
end

-- tshark -------------------------------------------------------------------------------------

-- The filter that the arguments ask for; none for all packets.
local function filter_asked(arguments)
    local parts = {}
    for _, argument in ipairs(arguments) do
        local stream, filter = argument:match("^stream=(%d+)$"), argument:match("^filter=(.+)$")
        if stream then
            parts[#parts + 1] = "tcp.stream == " .. stream
        elseif filter then
            parts[#parts + 1] = "(" .. filter .. ")"
        elseif argument ~= "why-slow" then
            error("The argument " .. argument .. " is unknown: give why-slow, stream=NUMBER or filter=EXPRESSION.", 0)
        end
    end
    return #parts > 0 and table.concat(parts, " and ") or nil
end

local function complain(text)
    io.stderr:write("whyslow: ", tostring(text), "\n")
end

local function in_tshark()
    local asked, filter = pcall(filter_asked, ARGUMENTS)
    if not asked then
        return complain(filter)
    end
    local tapped, listener, state = pcall(tap, filter)
    if not tapped then
        return complain(listener)
    end
    function listener.draw()
        local copy = state.copy
        state.copy = new_copy()
        local done, result = explained(copy)
        if not done then
            return complain(result)
        end
        io.stdout:write(table.concat(result.lines, "\n"), "\n")
    end
end

-- Wireshark ----------------------------------------------------------------------------------

local function show(report)
    local window = TextWindow.new("Why slow?")
    window:set(table.concat(report.lines, "\n") .. "\n")
    local before = get_filter()
    local function go(filter)
        return function()
            set_filter(filter)
            apply_filter()
        end
    end
    for place = 1, math.min(#report.filters, MOST_BUTTONS) do
        window:add_button("Show evidence " .. place, go(report.filters[place]))
    end
    if #report.filters > 0 then
        window:add_button("Filter as before", go(before))
    end
end

-- Reads the open file again through a tap, and shows what is found.
local function explain_open_file(filter)
    local tapped, listener, state = pcall(tap, filter)
    if not tapped then
        return report_failure(listener)
    end
    local read, wrong = pcall(retap_packets)
    listener:remove()
    if not read then
        remove_copy(state.copy)
        return report_failure("The packets cannot be read again: " .. tostring(wrong) .. "\nOpen a capture first.")
    end
    local done, result = explained(state.copy)
    if done then
        show(result)
    else
        report_failure(tostring(result))
    end
end

local function explain_stream(number)
    local stream = tostring(number or ""):match("^%s*(%d+)%s*$")
    if not stream then
        return report_failure("A stream is a number from 0, as the field tcp.stream shows it.")
    end
    explain_open_file("tcp.stream == " .. stream)
end

local function in_wireshark()
    register_menu("Why slow?/Shown packets", function()
        local filter = get_filter()
        explain_open_file(filter ~= "" and filter or nil)
    end, MENU_TOOLS_UNSORTED)
    register_menu("Why slow?/One stream...", function()
        local shown = get_filter():match("tcp%.stream%s*[e=][q=]%s*(%d+)")
        new_dialog("Why slow?", explain_stream, { name = "tcp.stream", value = shown or "0" })
    end, MENU_TOOLS_UNSORTED)
    if register_packet_menu then
        register_packet_menu("Why slow?/This stream", function(...)
            for _, field in ipairs({ ... }) do
                if field.name == "tcp.stream" then
                    return explain_stream(field.value)
                end
            end
        end, "tcp.stream")
    end
end

if not IN_WIRESHARK then
    in_tshark()
elseif not is_second then
    in_wireshark()
end
