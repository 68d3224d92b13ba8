//! Builds one plugin from the command line: `stepwell-plugin-builder CRATE_DIR OUT_DIR`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [crate_dir, out_dir] = arguments.as_slice() else {
        eprintln!("usage: stepwell-plugin-builder CRATE_DIR OUT_DIR");
        return ExitCode::from(2);
    };
    match run(Path::new(crate_dir), Path::new(out_dir)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(crate_dir: &Path, out_dir: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(out_dir)?;
    let component = stepwell_plugin_builder::build(&crate_dir.canonicalize()?, &out_dir.canonicalize()?)?;
    println!("{}", component.display());
    Ok(())
}
