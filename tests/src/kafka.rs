//! A broker of Kafka of our own: one node, in a folder of its own, on free ports, gone when the test process is.

use std::fs;
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer as _};

/// How long a broker may take to come up: a slow machine must not fail a test.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often it is asked.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long it has for an answer.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// Tries to find free ports: another process may take one between asking and using it.
const PORT_TRIES_MAX: u32 = 5;

/// The user that a broker with a protected wire knows.
pub const USER: &str = "stepwell";
/// Its password.
pub const PASSWORD: &str = "an unguessable word";

/// A running broker. It ends with this value, and with the process at the latest, however that ends.
#[derive(Debug)]
pub struct Broker {
    folder: PathBuf,
    port: u16,
    secure_port: Option<u16>,
    process: Mutex<Option<Child>>,
    /// Ends the broker when its standard input is closed, which the kernel does for a process that has died.
    watchdog: Child,
}

/// The broker that all tests of this process share. None if there is no Kafka: the test is skipped, loudly, and fails where
/// `CI` is `true`.
pub fn shared() -> anyhow::Result<Option<&'static Broker>> {
    static SHARED: OnceLock<Result<Broker, String>> = OnceLock::new();
    or_skip(SHARED.get_or_init(|| Broker::start(false)).as_ref().map_err(Clone::clone))
}

/// A broker of the test's own; skipped as above.
pub fn own(secure: bool) -> anyhow::Result<Option<Broker>> {
    or_skip(Broker::start(secure))
}

fn or_skip<T>(broker: Result<T, String>) -> anyhow::Result<Option<T>> {
    match broker {
        Ok(broker) => Ok(Some(broker)),
        Err(why) if std::env::var("CI").is_ok_and(|ci| ci == "true") => {
            anyhow::bail!("there is no Kafka to test with: {why}")
        }
        Err(why) => {
            // Not `eprintln`, which a passing test does not show.
            let _ = writeln!(io::stderr(), "SKIPPED, not tested with Kafka: {why}");
            Ok(None)
        }
    }
}

impl Broker {
    /// Starts a new broker; with a second door that asks for TLS and a password, if wanted.
    pub fn start(secure: bool) -> Result<Self, String> {
        let libraries = libraries()?;
        let folder = tempfile::Builder::new()
            .prefix("stepwell-kafka-")
            .tempdir()
            .map_err(|error| format!("a folder for Kafka: {error}"))?
            .keep();
        let watchdog = watchdog(&folder).map_err(|error| format!("the watchdog: {error}"))?;
        let mut broker = Self { folder, port: 0, secure_port: None, process: Mutex::new(None), watchdog };
        if secure {
            broker.make_certificates()?;
        }
        let mut failed = String::new();
        for _ in 0..PORT_TRIES_MAX {
            broker.configure(secure)?;
            broker.format(&libraries, secure)?;
            match broker.resume() {
                Ok(()) => return Ok(broker),
                Err(error) => failed = error,
            }
            broker.crash();
            let _ = fs::remove_dir_all(broker.data());
        }
        Err(failed)
    }

    /// As `--kafka` takes it.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The same for the protected door.
    pub fn secure_address(&self) -> Option<String> {
        self.secure_port.map(|port| format!("localhost:{port}"))
    }

    /// Who vouches for the protected door.
    pub fn authority(&self) -> PathBuf {
        self.folder.join("authority.pem")
    }

    /// Ends the broker with no good-bye; what it has acknowledged is on the disk.
    pub fn crash(&self) {
        if let Some(mut process) = self.process.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Starts the broker again after [`Self::crash`], and waits until it answers.
    pub fn resume(&self) -> Result<(), String> {
        let log = fs::File::options().create(true).append(true).open(self.folder.join("log"));
        let log = log.map_err(|error| format!("the log of Kafka: {error}"))?;
        let mut java = java(&libraries()?);
        java.arg("kafka.Kafka").arg(self.settings()).current_dir(&self.folder).process_group(0);
        let log_again = log.try_clone().map_err(|error| error.to_string())?;
        java.stdin(Stdio::null()).stdout(log_again).stderr(log);
        let process = java.spawn().map_err(|error| format!("java: {error}"))?;
        fs::write(self.folder.join("pid"), process.id().to_string()).map_err(|error| error.to_string())?;
        *self.process.lock().unwrap_or_else(PoisonError::into_inner) = Some(process);
        self.wait_until_up()
    }

    fn wait_until_up(&self) -> Result<(), String> {
        let client: BaseConsumer = ClientConfig::new()
            .set("bootstrap.servers", self.address())
            .set_log_level(rdkafka::config::RDKafkaLogLevel::Emerg)
            .create()
            .map_err(|error| error.to_string())?;
        let end = Instant::now() + PATIENCE;
        while client.fetch_metadata(None, ANSWER_MAX).is_err() {
            let ended = {
                let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
                process.as_mut().is_none_or(|process| !matches!(process.try_wait(), Ok(None)))
            };
            if ended || Instant::now() > end {
                let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                let from = log.len().saturating_sub(2_000);
                return Err(format!("Kafka did not come up: {}", log.get(from..).unwrap_or(&log)));
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    fn configure(&mut self, secure: bool) -> Result<(), String> {
        let port = || free_port().map_err(|error| format!("a free port: {error}"));
        let controller = port()?;
        self.port = port()?;
        self.secure_port = if secure { Some(port()?) } else { None };
        let door = self.secure_port.map(|port| format!(",SECURE://localhost:{port}")).unwrap_or_default();
        let mut text = format!(
            "process.roles=broker,controller\nnode.id=1\n\
             controller.quorum.bootstrap.servers=127.0.0.1:{controller}\n\
             listeners=PLAIN://127.0.0.1:{own}{door},CONTROLLER://127.0.0.1:{controller}\n\
             advertised.listeners=PLAIN://127.0.0.1:{own}{door}\n\
             inter.broker.listener.name=PLAIN\ncontroller.listener.names=CONTROLLER\n\
             listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAIN:PLAINTEXT,SECURE:SASL_SSL\n\
             log.dirs={data}\nnum.partitions=4\ngroup.initial.rebalance.delay.ms=0\n\
             offsets.topic.replication.factor=1\noffsets.topic.num.partitions=1\n\
             transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\n\
             transaction.state.log.num.partitions=1\nlog.cleaner.enable=false\n",
            own = self.port,
            data = self.data().display(),
        );
        if secure {
            let module = "org.apache.kafka.common.security";
            text += &format!(
                "sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256\n\
                 listener.name.secure.ssl.keystore.type=PEM\n\
                 listener.name.secure.ssl.keystore.location={keys}\n\
                 listener.name.secure.plain.sasl.jaas.config={module}.plain.PlainLoginModule required \
                 user_{USER}=\"{PASSWORD}\";\n\
                 listener.name.secure.scram-sha-256.sasl.jaas.config={module}.scram.ScramLoginModule required;\n",
                keys = self.folder.join("keys.pem").display(),
            );
        }
        fs::write(self.settings(), text).map_err(|error| format!("the settings of Kafka: {error}"))
    }

    fn format(&self, libraries: &Path, secure: bool) -> Result<(), String> {
        let mut format = java(libraries);
        format
            .args(["kafka.tools.StorageTool", "format", "--standalone", "-t", "c3RlcHdlbGwtdGVzdHMtMQ", "-c"])
            .arg(self.settings());
        if secure {
            format.args(["--add-scram", &format!("SCRAM-SHA-256=[name={USER},password={PASSWORD}]")]);
        }
        run(&mut format, "the storage of Kafka")
    }

    /// An authority, and a certificate by it for this machine.
    fn make_certificates(&self) -> Result<(), String> {
        let script = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority \
             -keyout authority.key -out authority.pem \
             -addext basicConstraints=critical,CA:TRUE -addext keyUsage=keyCertSign\n\
             openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout own.key -out own.csr\n\
             printf 'subjectAltName=DNS:localhost' > own.ext\n\
             openssl x509 -req -in own.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 \
             -extfile own.ext -out own.pem\n\
             openssl pkcs8 -topk8 -nocrypt -in own.key -out own.p8\n\
             cat own.p8 own.pem authority.pem > keys.pem";
        let mut shell = Command::new("sh");
        run(shell.args(["-e", "-c", script]).current_dir(&self.folder), "openssl")
    }

    fn settings(&self) -> PathBuf {
        self.folder.join("server.properties")
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.crash();
        drop(self.watchdog.stdin.take());
        let _ = self.watchdog.wait();
    }
}

/// A process that outlives us by as long as it takes to clean up.
fn watchdog(folder: &Path) -> io::Result<Child> {
    let script = "trap '' INT TERM HUP; read -r _; \
         pid=$(cat \"$0/pid\" 2> /dev/null) && [ -d \"/proc/$pid\" ] && \
         grep -q kafka \"/proc/$pid/cmdline\" && kill -9 \"$pid\"; rm -rf \"$0\"";
    Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg(folder)
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// A small machine for a small broker.
fn java(libraries: &Path) -> Command {
    let mut java = Command::new("java");
    java.args(["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"]);
    java.arg(libraries.join("*"));
    java
}

fn run(command: &mut Command, what: &str) -> Result<(), String> {
    let ran = command.stdin(Stdio::null()).output().map_err(|error| format!("{what}: {error}"))?;
    if ran.status.success() {
        return Ok(());
    }
    Err(format!("{what}: {}", String::from_utf8_lossy(&ran.stderr).trim()))
}

fn libraries() -> Result<PathBuf, String> {
    let libraries = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tools/kafka/libs");
    let there = libraries.canonicalize();
    there.map_err(|_| "Kafka is not installed: run `make kafka`, which needs Java and Maven".to_owned())
}

/// As in [`crate::postgres`]: below the ports of outgoing connections, so that it is free again after a stop.
fn free_port() -> io::Result<u16> {
    loop {
        let port = rand::random_range(15_000..32_000);
        match TcpListener::bind(("127.0.0.1", port)) {
            Ok(_) => return Ok(port),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(error),
        }
    }
}
