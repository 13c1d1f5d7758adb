# What the scripts of states.toml have. $W is the program, $R the program of the ends.

# Looks once: look FILE [OPTIONS].
look() {
    file=$1
    shift
    $W host --json --words "$@" >$file.new 2>>looks.err
    mv $file.new $file
}

# Looks until a cause is found: seek CAUSE FILE [OPTIONS].
seek() {
    wanted=$1
    shift
    for turn in $(seq 15); do
        look "$@"
        grep -q "\"cause\": \"$wanted\"" $1 && return
        sleep 0.5
    done
}

# Looks three times, and stops at the first finding: calm FILE [OPTIONS]. The load of the machine is no state.
calm() {
    for turn in 1 2 3; do
        look "$@"
        if grep '"cause":' $1 | grep -qv 'host-cpu\|softnet-drops\|cpu-throttled'; then exit; fi
    done
}

# A device behind which 10.9.9.9 does not answer.
hole() {
    ip link add hole type veth peer name end && ip link set hole up && ip link set end up &&
        ip address add 10.9.9.1/24 dev hole && ip neigh add 10.9.9.9 lladdr 02:00:00:00:00:01 dev hole || exit 77
}

# $group: a control group that may use a tenth of a processor, in the hierarchy that this machine has.
group() {
    name=whyslow-$(basename $PWD)
    for group in /sys/fs/cgroup/cpu/$name /sys/fs/cgroup/cpu,cpuacct/$name; do
        if [ -d ${group%/*} ]; then
            mkdir $group && echo 10000 >$group/cpu.cfs_quota_us && return
        fi
    done
    group=/sys/fs/cgroup/$name
    mkdir $group && echo '10000 100000' >$group/cpu.max || exit 77
}
