//! A PostgreSQL server of our own: in a folder of its own, on a free port, gone when the test process is.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

/// The superuser of the server; there is no password.
const USER: &str = "stepwell";

/// Tries to find a free port: another process may take one between asking and using it.
const PORT_TRIES_MAX: u32 = 10;

/// A running server. It ends with this value, and with the process at the latest, however that ends.
#[derive(Debug)]
pub struct Server {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    /// Stops the server when its standard input is closed, which the kernel does for a process that has died.
    watchdog: Child,
}

/// The server that all tests of this process share, or why there is none.
pub fn shared() -> Result<&'static Server, &'static str> {
    static SHARED: OnceLock<Result<Server, String>> = OnceLock::new();
    SHARED.get_or_init(Server::start).as_ref().map_err(String::as_str)
}

impl Server {
    /// Starts a new server.
    pub fn start() -> Result<Self, String> {
        let programs = programs().ok_or("PostgreSQL is not installed: run `make postgres`")?;
        let folder = tempfile::Builder::new()
            .prefix("stepwell-postgres-")
            .tempdir()
            .map_err(|error| format!("a folder for PostgreSQL: {error}"))?
            .keep();
        let watchdog = watchdog(&programs, &folder).map_err(|error| format!("the watchdog: {error}"))?;
        let mut server = Self { programs, folder, port: 0, watchdog };
        server.make_cluster()?;
        for _ in 1..PORT_TRIES_MAX {
            server.port = free_port().map_err(|error| format!("a free port: {error}"))?;
            if server.control("start").is_ok() {
                return Ok(server);
            }
        }
        server.control("start").map(|()| server)
    }

    /// The address of a database on this server.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Stops the server, as an operator would: connections are cut, nothing is lost.
    pub fn stop(&self) -> Result<(), String> {
        self.control("stop")
    }

    /// Ends the server with no checkpoint and no good-bye: the next start recovers from the log.
    pub fn crash(&self) -> Result<(), String> {
        self.control("crash")
    }

    /// Starts the server again after [`Self::stop`] or [`Self::crash`].
    pub fn resume(&self) -> Result<(), String> {
        self.control("start")
    }

    fn make_cluster(&self) -> Result<(), String> {
        if is_root() {
            succeed(Command::new("chown").arg("postgres").arg(&self.folder), "chown")?;
        }
        let mut initdb = as_owner(&self.programs.join("initdb"));
        initdb
            .args(["-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-U", USER, "-D"])
            .arg(self.data());
        succeed(&mut initdb, "initdb")?;
        // Tests kill processes, not machines: fsync would only slow them down.
        let settings = "\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 300\n\
             fsync = off\nshared_buffers = '64MB'\nautovacuum_naptime = '10s'\n";
        let file = self.data().join("postgresql.conf");
        let text = fs::read_to_string(&file).map_err(|error| format!("postgresql.conf: {error}"))?;
        fs::write(&file, text + settings).map_err(|error| format!("postgresql.conf: {error}"))
    }

    fn control(&self, verb: &str) -> Result<(), String> {
        let mut control = as_owner(&self.programs.join("pg_ctl"));
        control.arg("-D").arg(self.data()).args(["-w", "-t", "300"]);
        match verb {
            "start" => {
                control.args(["-o", &format!("-p {}", self.port), "-l"]).arg(self.folder.join("log"));
            }
            "crash" => {
                control.args(["-m", "immediate"]);
            }
            _ => {
                control.args(["-m", "fast"]);
            }
        }
        succeed(control.arg(if verb == "start" { verb } else { "stop" }), "pg_ctl")
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        let _ = self.watchdog.wait();
    }
}

/// A process that outlives us by as long as it takes to clean up.
fn watchdog(programs: &Path, folder: &Path) -> io::Result<Child> {
    let script = "trap '' INT TERM HUP; read -r _; \
         \"$@\" -D \"$0/data\" -m immediate -t 60 stop; rm -rf \"$0\"";
    let mut stop = vec![];
    if is_root() {
        stop.extend(OWNER.map(Into::into));
    }
    stop.push(programs.join("pg_ctl").into_os_string());
    Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg(folder)
        .args(stop)
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// How root becomes someone that PostgreSQL agrees to run as.
const OWNER: [&str; 4] = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"];

fn as_owner(program: &Path) -> Command {
    let mut command = if is_root() {
        let mut command = Command::new(OWNER[0]);
        command.args(&OWNER[1..]).arg(program);
        command
    } else {
        Command::new(program)
    };
    // The server must not hold our standard streams: whoever reads them would wait for it.
    command.current_dir("/").stdin(Stdio::null());
    command
}

fn succeed(command: &mut Command, name: &str) -> Result<(), String> {
    // Into files rather than pipes, which a server that was started would keep open.
    let log = tempfile::tempfile().map_err(|error| format!("{name}: {error}"))?;
    let copy = |log: &fs::File| log.try_clone().map(Stdio::from).map_err(|error| format!("{name}: {error}"));
    let (out, err) = (copy(&log)?, copy(&log)?);
    let status = command.stdout(out).stderr(err).status().map_err(|error| format!("{name}: {error}"))?;
    if status.success() {
        return Ok(());
    }
    let mut log = log;
    let _ = io::Seek::rewind(&mut log);
    Err(format!("{name}: {}", io::read_to_string(log).unwrap_or_default().trim()))
}

/// The newest installed server's programs.
fn programs() -> Option<PathBuf> {
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = installed
        .filter_map(|entry| {
            Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path().join("bin")))
        })
        .filter(|(_, programs)| programs.join("initdb").exists())
        .max();
    let on_path = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
    };
    newest.map(|(_, programs)| programs).or_else(on_path)
}

fn is_root() -> bool {
    static ROOT: OnceLock<bool> = OnceLock::new();
    *ROOT.get_or_init(|| {
        let id = Command::new("id").arg("-u").output();
        id.is_ok_and(|Output { stdout, .. }| stdout.trim_ascii() == b"0")
    })
}

/// A port that nobody listens on, below those that systems give to outgoing connections: a server that is stopped
/// for a moment must find it free again.
fn free_port() -> io::Result<u16> {
    let mut tries = 0;
    loop {
        let port = rand::random_range(15_000..32_000);
        match TcpListener::bind(("127.0.0.1", port)) {
            Ok(_) => return Ok(port),
            Err(error) if tries == PORT_TRIES_MAX => return Err(error),
            Err(_) => tries += 1,
        }
    }
}
