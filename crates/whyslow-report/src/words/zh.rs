//! Chinese. A file per family of causes, and one each for measurements and verdicts.

pub(super) mod answers;
mod common;
pub(super) mod compare;
mod decryption;
mod ends;
pub(super) mod evidence;
mod exchange;
pub(super) mod host;
mod icmp;
mod link;
mod lookup;
mod loss;
mod measure;
pub(super) mod pair;
mod path;
mod problem;
mod sending;
mod spread;
mod vantage;
mod verdict;
mod verify;

pub(super) use decryption::decryption;
pub(super) use icmp::icmp_error;
pub(super) use lookup::lookup;
pub(super) use measure::{measure, unit};
pub(super) use path::path;
pub(super) use problem::problem;
pub(super) use vantage::vantage;
pub(super) use verdict::verdict;
pub(super) use verify::verification;
use whyslow_analysis::{Action, Check, Question, Statement};

pub(super) fn statement(of: &Statement) -> String {
    match of {
        Statement::Common(shared) => common::statement(shared, &shared.worst().map_or(String::new(), statement)),
        Statement::Exchange(statement) => exchange::statement(statement),
        Statement::Link(statement) => link::statement(statement),
        Statement::Loss(statement) => loss::statement(statement),
        Statement::Sending(statement) => sending::statement(statement),
    }
}

pub(super) fn question(question: &Question) -> String {
    match question {
        Question::Common(question) => common::question(question),
        Question::Exchange(question) => exchange::question(question),
        Question::Link(question) => link::question(question),
        Question::Loss(question) => loss::question(question),
        Question::Sending(question) => sending::question(question),
    }
}

pub(super) fn action(action: &Action) -> String {
    match action {
        Action::Exchange(action) => exchange::action(action),
        Action::Link(action) => link::action(action),
        Action::Loss(action) => loss::action(action),
        Action::Sending(action) => sending::action(action),
    }
}

/// What shows that a fix worked, with the command that measures it.
pub(super) fn verify(check: Check, command: &str) -> String {
    match check {
        Check::FirstByte => format!("第一个字节来得更早，总时间更短：`{command}`"),
        Check::Connect => format!("停顿之后建立连接不比紧接着建立更慢：`{command}`"),
        Check::Reuse => format!("保持连接的客户端不再为每个请求新建连接：`{command}`"),
    }
}
