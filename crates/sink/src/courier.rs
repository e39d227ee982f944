//! Carries payloads to a server, on a thread of its own. A server that is slow or gone costs payloads, which are
//! counted, and at the end of a run a few seconds, never more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::address::Address;
use crate::output::{Context, Ending};

/// Payloads that may wait.
const WAITING_MAX: usize = 8;
/// How long one delivery may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What is delivered.
pub(crate) struct Payload {
    /// Behind the address.
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) body: Vec<u8>,
}

/// See the module.
pub(crate) struct Courier {
    name: &'static str,
    payloads: SyncSender<Payload>,
    /// Payloads that found no room.
    dropped: u64,
    closing: Arc<AtomicBool>,
    thread: JoinHandle<Deliveries>,
}

/// What came of the deliveries.
#[derive(Default)]
struct Deliveries {
    tried: u64,
    failed: u64,
    last_error: String,
}

impl Courier {
    /// Begins to carry to `address`.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub(crate) fn start(name: &'static str, address: Address, context: &Context) -> std::io::Result<Self> {
        let (payloads, waiting) = sync_channel(WAITING_MAX);
        let closing = Arc::new(AtomicBool::new(false));
        let (ends, say) = (closing.clone(), context.say.clone());
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || deliver(name, &address, &waiting, &ends, say.as_ref()))?;
        Ok(Self { name, payloads, dropped: 0, closing, thread })
    }

    /// Hands a payload over, if there is room.
    pub(crate) fn send(&mut self, payload: Payload) {
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = self.payloads.try_send(payload) {
            self.dropped += 1;
        }
    }

    /// Waits for what is under way. Once a delivery has failed, what still waits is given up.
    pub(crate) fn finish(self) -> Ending {
        self.closing.store(true, Ordering::Relaxed);
        drop(self.payloads);
        let Ok(deliveries) = self.thread.join() else {
            return Ending {
                trouble: Some(format!("output {}: its thread panicked", self.name)),
                is_incomplete: false,
            };
        };
        let lost = deliveries.failed + self.dropped;
        if lost == 0 {
            return Ending::default();
        }
        let why = if deliveries.failed > 0 { deliveries.last_error } else { "the server was too slow".to_owned() };
        let all = deliveries.tried + self.dropped;
        let sentence = format!("output {}: {lost} of {all} deliveries were lost ({why})", self.name);
        Ending { trouble: Some(sentence), is_incomplete: false }
    }
}

fn deliver(
    name: &str,
    address: &Address,
    payloads: &Receiver<Payload>,
    closing: &AtomicBool,
    say: &(dyn Fn(String) + Send + Sync),
) -> Deliveries {
    let tls = ureq::tls::TlsConfig::builder().disable_verification(address.insecure).build();
    let config = ureq::Agent::config_builder().timeout_global(Some(TIMEOUT)).tls_config(tls).build();
    let agent = ureq::Agent::new_with_config(config);
    let mut deliveries = Deliveries::default();
    let mut last_failed = false;
    for payload in payloads {
        deliveries.tried += 1;
        if last_failed && closing.load(Ordering::Relaxed) {
            deliveries.failed += 1;
            continue;
        }
        let mut request = agent.post(format!("{}{}", address.url, payload.path));
        for (key, value) in &address.headers {
            request = request.header(key, value);
        }
        for (key, value) in &payload.headers {
            request = request.header(*key, *value);
        }
        let error = request.send(&payload.body[..]).err().map(|error| error.to_string());
        last_failed = error.is_some();
        if let Some(error) = error {
            if deliveries.failed == 0 {
                say(format!("output {name}: {} does not take samples ({error}); the run goes on", address.url));
            }
            deliveries.failed += 1;
            deliveries.last_error = error;
        }
    }
    deliveries
}
