//! The host for crash tests: the same as `stepwell`, but it can be told where to die (`stepwell::failpoint`).

fn main() -> std::process::ExitCode {
    stepwell::cli::main()
}
