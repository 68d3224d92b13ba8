//! What processes of this machine have used, from /proc; zeros where there is none.

use std::fs::read_to_string;

/// Ticks of a second in /proc.
const TICKS_PER_SECOND: f64 = 100.0;

/// What a process has used so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Use {
    /// Seconds of all its threads.
    pub(super) cpu_seconds: f64,
    /// Memory in use.
    pub(super) rss_bytes: u64,
    /// Bytes that it wrote itself (a database server's own are not in it).
    pub(super) written_bytes: u64,
}

/// What a process has used.
pub(super) fn of_process(pid: u32) -> Use {
    let read = |name: &str| read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    Use {
        cpu_seconds: Times::read(&read("stat")).own,
        rss_bytes: number(&read("status"), "VmRSS:") * 1024,
        written_bytes: number(&read("io"), "write_bytes:"),
    }
}

/// Processor time of this very process: the load.
pub(super) fn own_cpu_seconds() -> f64 {
    Times::read(&read_to_string("/proc/self/stat").unwrap_or_default()).own
}

/// Processor time of all PostgreSQL servers on this machine, of connections that have ended, too.
pub(super) fn postgres_cpu_seconds() -> f64 {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = processes.filter_map(|process| {
        let folder = process.path();
        let name = read_to_string(folder.join("comm")).ok()?;
        // A server that was started by the path of its main program may be named `postmaster`.
        matches!(name.trim(), "postgres" | "postmaster").then(|| read_to_string(folder.join("stat")).ok())?
    });
    stats.map(|stat| Times::read(&stat)).map(|times| times.own + times.ended_children).sum()
}

/// Times of a process in seconds.
struct Times {
    own: f64,
    ended_children: f64,
}

impl Times {
    fn read(stat: &str) -> Self {
        // Fields are counted after the name in parentheses, which may hold blanks.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let seconds = |at: usize| {
            let ticks = fields.get(at).and_then(|word| word.parse::<f64>().ok()).unwrap_or_default();
            ticks / TICKS_PER_SECOND
        };
        Self { own: seconds(11) + seconds(12), ended_children: seconds(13) + seconds(14) }
    }
}

fn number(text: &str, key: &str) -> u64 {
    let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_behind_a_name_with_blanks_and_parentheses() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194304 9 8 7 6 150 50 300 100 20 0 1 0";
        let times = Times::read(stat);
        assert_eq!((times.own, times.ended_children), (2.0, 4.0));
        assert_eq!(Times::read("").own, 0.0);
    }

    #[test]
    fn this_process_uses_memory() {
        assert!(of_process(std::process::id()).rss_bytes > 0);
    }
}
