//! Prompts: questions that a person starts with.

use crate::failure::Failure;
use rmcp::model::{GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use whyslow_report::words::Lang;

/// The name of the only prompt.
pub(crate) const WHY_SLOW: &str = "why_slow";

/// The prompts that there are.
pub(crate) fn list() -> Vec<Prompt> {
    let arguments = vec![
        PromptArgument::new("file").with_description("A capture file").with_required(true),
        PromptArgument::new("question").with_description("What was slow, for whom").with_required(false),
    ];
    let about = "Find out why a transfer in a packet capture was slow, with the packets that show it";
    vec![Prompt::new(WHY_SLOW, Some(about), Some(arguments)).with_title("Why is this slow?")]
}

/// A prompt with its arguments filled in.
///
/// # Errors
/// When there is none of this name, or `file` is missing.
pub(crate) fn get(request: &GetPromptRequestParams, lang: Lang) -> Result<GetPromptResult, Failure> {
    if request.name != WHY_SLOW {
        return Err(Failure::new("there is no prompt of this name", format!("the prompt is `{WHY_SLOW}`")));
    }
    let argument = |name: &str| {
        let value = request.arguments.as_ref()?.get(name)?.as_str()?.trim();
        (!value.is_empty()).then(|| value.to_owned())
    };
    let file = argument("file")
        .ok_or_else(|| Failure::new("the argument `file` is missing", "give the name of a capture file"))?;
    let question = argument("question").map(|question| format!("What I noticed: {question}\n\n")).unwrap_or_default();
    let answer_in = match lang {
        Lang::En => "",
        Lang::Zh => "Answer in Chinese.\n",
    };
    let text = format!(
        "Why is this slow? The packet capture is `{file}`.\n\n{question}\
         1. Call `explain` with this file.\n\
         2. Call `finding` for the costliest finding, and `packets` around a frame that it cites: see that the packets \
         support the finding.\n\
         3. Call `predict` for its remedies.\n\
         4. Answer: the cause and its cost in time, the frames that show it, the fix with its command, the predicted \
         time, and what the capture leaves open. If the verdict is that nothing was slow, or that the capture does not \
         show it, report that.\n{answer_in}"
    );
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use serde_json::json;

    #[test]
    fn a_prompt_names_its_file() {
        let request = |arguments: serde_json::Value| {
            let mut request = GetPromptRequestParams::new(WHY_SLOW);
            request.arguments = arguments.as_object().cloned();
            request
        };
        let text = |arguments| serde_json::to_string(&get(&request(arguments), Lang::En).unwrap()).unwrap();
        assert!(text(json!({"file": "slow.pcap"})).contains("`slow.pcap`"));
        assert!(text(json!({"file": "a", "question": "uploads"})).contains("What I noticed: uploads"));
        for arguments in [json!({}), json!({"file": " "}), json!({"file": 7})] {
            assert!(get(&request(arguments), Lang::En).is_err());
        }
        assert!(get(&GetPromptRequestParams::new("other"), Lang::En).is_err());
    }
}
