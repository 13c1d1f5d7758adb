//! `whyslow --table`: a line a file, each read by itself.

use crate::settings::ExplainTask;
use std::process::ExitCode;
use whyslow_cli::exit::{FAILED, FOUND, IN_PART};
use whyslow_cli::interrupt::{INTERRUPTED, Interrupt};
use whyslow_cli::output::{Output, sources};
use whyslow_cli::{Meter, hints};
use whyslow_report::render::table::{self, CaptureRow};

/// Reads the inputs one after the other, and prints a line for each. The line of an unreadable
/// input has the error.
///
/// # Errors
/// When stdout fails or is an input.
pub(crate) fn run(task: &ExplainTask, mut out: Output) -> anyhow::Result<ExitCode> {
    sources(&task.inputs).refuse_stdout()?;
    let mut interrupt = Interrupt::listen()?;
    let stop = interrupt.stop();
    let (mut rows, mut code, mut unread) = (Vec::new(), ExitCode::SUCCESS, 0);
    for input in &task.inputs {
        let read = {
            let mut meter = Meter::new();
            whyslow_io::explain_on(task.how.clone(), std::slice::from_ref(input), &stop, &mut |progress| {
                interrupt.has_read();
                meter.update(progress);
            })
        };
        match read {
            Ok(mut analysis) => {
                task.selection.apply(&mut analysis)?;
                if task.fail_on.iter().any(|cause| cause.is_in(&analysis)) && code == ExitCode::SUCCESS {
                    code = ExitCode::from(FOUND);
                }
                let is_partial = analysis.partial;
                rows.push(CaptureRow::of(&analysis));
                if is_partial {
                    code = ExitCode::from(INTERRUPTED);
                    break;
                }
            }
            Err(error) => {
                rows.push(CaptureRow::unreadable(input.name(), hints::with_hint(&error)));
                unread += 1;
            }
        }
    }
    interrupt.is_done();
    out.write(&table::terminal(&rows, out.table_width()))?;
    Ok(match unread {
        0 => code,
        unread if unread == task.inputs.len() => ExitCode::from(FAILED),
        _ if code == ExitCode::SUCCESS => ExitCode::from(IN_PART),
        _ => code,
    })
}
