//! The `stepwell` binary: everything is in the library.

fn main() -> std::process::ExitCode {
    stepwell::cli::main()
}
