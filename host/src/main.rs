//! The `stepwell` binary: everything is in the library.

/// Small and short-lived allocations from many threads are what a host does most.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    stepwell::cli::main()
}
