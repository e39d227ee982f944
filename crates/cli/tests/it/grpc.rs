//! gRPC end to end: the lab's service, called by scripts in every way there is.

use std::path::Path;

use crate::service::{Service, plimsoll};

const PROTOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab/proto");

/// Runs a script with one user and one iteration; its checks must hold.
fn run(folder: &Path, service: &Service, script: &str) -> assert_cmd::assert::Assert {
    let path = folder.join("grpc.js");
    std::fs::write(&path, script).unwrap();
    let address = service.url.trim_start_matches("http://");
    let mut command = plimsoll();
    command.args(["run", "--quiet", "-e", &format!("ADDRESS={address}"), "-e", &format!("PROTOS={PROTOS}")]);
    command.arg("--summary-export").arg(folder.join("summary.json")).arg(path);
    command.assert()
}

const EVERY_CALL: &str = r"
import grpc from 'k6/net/grpc';
import { check, group } from 'k6';
const client = new grpc.Client();
const found = client.load([__ENV.PROTOS], 'plimsoll/lab/v1/route.proto');
const route = (name) => `plimsoll.lab.v1.Route/${name}`;
export const options = { thresholds: { checks: ['rate==1'] } };
const talk = (name, messages) => new Promise((resolve, reject) => {
  const stream = new grpc.Stream(client, route(name));
  const seen = [];
  stream.on('data', ({ value }) => seen.push(value));
  stream.on('error', reject);
  stream.on('end', () => resolve(seen.join()));
  messages.forEach((value) => stream.write({ value }));
  stream.end();
});
export default async function () {
  check(found, { 'methods are told': (all) => all.length === 6 && all[3].is_server_stream && !all[3].is_client_stream });
  check(client.connect(__ENV.ADDRESS, { plaintext: true }), { connected: (it) => it === true });
  const sent = { text: 'a', large: '9007199254740993', raw: 'aGk=', colour: 'COLOUR_RED', inner: { aName: 'x' } };
  const echo = client.invoke(route('Echo'), sent, { metadata: { 'x-id': '7' } });
  check(echo, {
    'an answer': ({ status, error }) => status === grpc.StatusOK && error === null,
    'large numbers are whole': ({ message }) => message.large === '9007199254740993',
    'what is not there is null': ({ message }) => message.at === null && message.maybe === undefined,
    'metadata goes and comes': ({ headers }) => headers['echo-x-id'][0] === '7' && headers['answered-by'][0] === 'lab',
  });
  const failed = client.invoke(route('Fail'), { code: 5, text: 'gone' });
  check(failed, {
    'a failure is an answer': ({ status, error }) => status === grpc.StatusNotFound && error.message === 'gone',
    'with trailers': ({ trailers }) => trailers.why[0] === 'asked for',
  });
  const late = client.invoke(route('Slow'), { milliseconds: 60000 }, { timeout: '50ms' });
  check(late, { 'a deadline': ({ status }) => status === grpc.StatusDeadlineExceeded });
  const { message } = await client.asyncInvoke(route('Echo'), { text: 'later' });
  check(message, { 'without waiting': ({ text }) => text === 'later' });
  check(await talk('Count', [3]), { 'a stream of answers': (it) => it === '1,2,3' });
  check(await talk('Sum', [1, 2, 3]), { 'a stream of questions': (it) => it === '6' });
  check(await talk('Double', [1, 2]), { 'both at once': (it) => it === '2,4' });
  client.close();
}
";

#[test]
fn every_shape_of_call_is_answered_and_measured() {
    let service = Service::start("grpc");
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &service, EVERY_CALL).success();
    let summary = std::fs::read_to_string(folder.path().join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let count = |metric: &str| summary["metrics"][metric]["count"].as_f64();
    assert_eq!(count("grpc_streams"), Some(3.0));
    assert_eq!(count("grpc_streams_msgs_sent"), Some(6.0));
    assert_eq!(count("grpc_streams_msgs_received"), Some(6.0));
}

const REFLECTION: &str = r"
import grpc from 'k6/net/grpc';
import { check } from 'k6';
const client = new grpc.Client();
export const options = { thresholds: { checks: ['rate==1'] } };
export default function () {
  client.connect(__ENV.ADDRESS, { plaintext: true, reflect: true });
  const { message } = client.invoke('/plimsoll.lab.v1.Route/Echo', { by_name: { a: 1 }, at: '2020-01-02T03:04:05Z' });
  check(message, { 'messages of other files are known': ({ byName, at }) => byName.a === 1 && at === '2020-01-02T03:04:05Z' });
  const health = client.healthCheck('plimsoll.lab.v1.Route');
  check(health, { healthy: ({ message }) => message.status === grpc.HealthCheckServing });
}
";

#[test]
fn a_server_that_reflects_needs_no_files() {
    let service = Service::start("grpc");
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &service, REFLECTION).success();
}

#[test]
fn mistakes_are_exceptions_that_name_them() {
    let service = Service::start("grpc");
    let folder = tempfile::tempdir().unwrap();
    let script = r"
        import grpc from 'k6/net/grpc';
        const client = new grpc.Client();
        client.load([__ENV.PROTOS], 'plimsoll/lab/v1/route.proto');
        const attempt = (act) => { try { act(); } catch (error) { console.log(error.message); } };
        attempt(() => new grpc.Client().load([__ENV.PROTOS], 'missing.proto'));
        export default function () {
          attempt(() => client.invoke('plimsoll.lab.v1.Route/Echo', {}));
          attempt(() => client.connect('127.0.0.1:1', { plaintext: true }));
          attempt(() => client.connect('nowhere', { plaintext: true }));
          attempt(() => client.connect(__ENV.ADDRESS, { plain: true }));
          attempt(() => client.connect(__ENV.ADDRESS, { timeout: '5s' }));
          client.connect(__ENV.ADDRESS, { plaintext: true });
          attempt(() => client.invoke('plimsoll.lab.v1.Route/Nope', {}));
          attempt(() => client.invoke('plimsoll.lab.v1.Route/Echo', { nope: 1 }));
          attempt(() => client.invoke('plimsoll.lab.v1.Route/Echo'));
          attempt(() => client.invoke('plimsoll.lab.v1.Route/Echo', {}, { retries: 1 }));
          attempt(() => new grpc.Stream(null, 'plimsoll.lab.v1.Route/Echo'));
        }";
    let said = run(folder.path(), &service, script).success();
    let said = String::from_utf8_lossy(&said.get_output().stderr).into_owned();
    for sentence in [
        "cannot compile missing.proto",
        "no gRPC connection, you must call connect first",
        "connection error: 127.0.0.1:1: dial: connection refused",
        "missing port in address",
        "unknown connect param: \"plain\"",
        "does not look like a TLS handshake",
        "method \"/plimsoll.lab.v1.Route/Nope\" not found in file descriptors",
        "'nope'",
        "request cannot be nil",
        "unknown param: \"retries\"",
        "empty gRPC client",
    ] {
        assert!(said.contains(sentence), "`{sentence}` is missing in:\n{said}");
    }
}
