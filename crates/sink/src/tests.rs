//! Outputs against files and against receivers in this process that decode what arrives.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use model::metric::{Contains, Metric, MetricId, MetricType, builtin_metrics};
use model::plan::{Plan, Threshold};
use model::sample::{Sample, Tags};
use model::unit::Moment;

use super::*;

/// What a receiver got: path, and body.
type Got = (String, Vec<u8>);

/// A receiver that answers everything with this status line.
fn receiver(answer: &'static str) -> (String, Receiver<Got>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (hand, got) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let hand = hand.clone();
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream);
                while let Some(request) = read(&mut reader) {
                    // Before the answer, so that whoever waits for it finds it.
                    let _ = hand.send(request);
                    let _ = reader
                        .get_mut()
                        .write_all(format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\n\r\n").as_bytes());
                }
            });
        }
    });
    (address, got)
}

fn read(reader: &mut impl BufRead) -> Option<Got> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split_whitespace().nth(1)?.to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let header = header.trim().to_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((path, body))
}

fn plan() -> Plan {
    let mut metrics = builtin_metrics();
    metrics.push(Metric::new("ratio", MetricType::Rate, Contains::Default));
    let threshold = |selector: &str, expression: Option<&str>| Threshold {
        selector: selector.parse().unwrap(),
        expression: expression.map(|text| text.parse().unwrap()),
        abort_on_fail: false,
        delay_abort_eval: std::time::Duration::ZERO,
    };
    let thresholds = vec![threshold("http_reqs", Some("count>1")), threshold("http_reqs{scenario:b}", None)];
    Plan { metrics, thresholds, ..Plan::default() }
}

fn tags(pairs: &[(&str, &str)]) -> Tags {
    pairs.iter().map(|(key, value)| (Box::from(*key), Box::from(*value))).collect()
}

/// Two requests of 4 and 12 ms, one check that failed, one that held, and users, within two seconds.
fn samples() -> Vec<Sample> {
    let request = tags(&[("name", "x, \"y\""), ("own", "o"), ("scenario", "a"), ("url", "http://x/ y")]);
    let at = |second: f64| Moment((second * 1e9) as u64);
    let sample = |metric, second, value, tags: &Tags| Sample { metric, at: at(second), value, tags: tags.clone() };
    let (scenario, ratio) = (tags(&[("scenario", "a")]), MetricId(u32::try_from(builtin_metrics().len()).unwrap()));
    // The same tags from another worker.
    let again: Tags = request.iter().cloned().collect();
    vec![
        sample(MetricId::HTTP_REQS, 0.5, 1.0, &request),
        sample(MetricId::HTTP_REQ_DURATION, 0.5, 4.0, &request),
        sample(MetricId::HTTP_REQS, 1.25, 1.0, &again),
        sample(MetricId::HTTP_REQ_DURATION, 1.25, 12.0, &again),
        sample(ratio, 1.5, 0.0, &scenario),
        sample(ratio, 1.5, 1.0, &scenario),
        sample(MetricId::VUS, 2.0, 7.0, &tags(&[])),
    ]
}

/// Runs one output over the samples; what it reports, and what it said meanwhile.
fn output(wish: Wish) -> (Report, Vec<String>) {
    let said = Arc::new(Mutex::new(Vec::new()));
    let listener = said.clone();
    let say = Arc::new(move |text| listener.lock().unwrap().push(text));
    let setting = Setting { plan: Arc::new(plan()), began_ns: 1_796_095_490_000_000_000, say };
    let (hand, batches) = channel();
    let outputs = start(vec![wish], &setting, batches).unwrap();
    for sample in samples() {
        hand.send(vec![sample]).unwrap();
    }
    drop(hand);
    let report = outputs.finish(0);
    let said = said.lock().unwrap().clone();
    (report, said)
}

fn wish(text: &str, env: &[(&str, &str)]) -> Wish {
    let get = |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    parse(text, &get).unwrap()
}

fn file(folder: &Path, name: &str, format: &str) -> Vec<u8> {
    let path = folder.join(name);
    let (report, _) = output(wish(&format!("{format}={}", path.display()), &[]));
    assert_eq!(report, Report::default());
    std::fs::read(path).unwrap()
}

#[test]
fn json_lines_are_those_of_k6() {
    let folder = tempfile::tempdir().unwrap();
    let text = String::from_utf8(file(folder.path(), "x.json", "json")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..2],
        [
            r#"{"type":"Metric","data":{"name":"http_reqs","type":"counter","contains":"default","thresholds":["count>1"],"submetrics":[{"name":"http_reqs{scenario:b}","suffix":"scenario:b","tags":{"scenario":"b"}}]},"metric":"http_reqs"}"#,
            r#"{"metric":"http_reqs","type":"Point","data":{"time":"2026-12-01T03:24:50.5Z","value":1,"tags":{"group":"","name":"x, \"y\"","own":"o","scenario":"a","url":"http://x/ y"}}}"#,
        ]
    );
    assert_eq!(
        lines.last().unwrap(),
        &r#"{"metric":"vus","type":"Point","data":{"time":"2026-12-01T03:24:52Z","value":7,"tags":{}}}"#
    );
    assert_eq!(lines.len(), 7 + 4, "each metric is introduced once");
}

#[test]
fn csv_lines_are_those_of_k6_and_a_name_in_gz_is_packed() {
    let folder = tempfile::tempdir().unwrap();
    let packed = file(folder.path(), "x.csv.gz", "csv");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    let header = "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,\
         service,status,subproto,tls_version,url,extra_tags,metadata";
    let line = "http_reqs,1796095490,1.000000,,,,,,,\"x, \"\"y\"\"\",,a,,,,,http://x/ y,own=o,";
    assert_eq!(text.lines().take(2).collect::<Vec<_>>(), [header, line]);
    assert_eq!(text.lines().count(), 1 + 7);
}

#[test]
fn a_full_disk_is_said_once_and_leaves_the_file_incomplete() {
    let (report, said) = output(wish("json=/dev/full", &[]));
    assert!(report.is_incomplete && report.troubles.len() == 1, "{report:?}");
    assert!(said.len() == 1 && said[0].contains("/dev/full"), "{said:?}");
}

#[test]
fn influxdb_gets_every_sample_as_a_line() {
    let (address, got) = receiver("204 No Content");
    let (report, _) = output(wish(&format!("influxdb=http://{address}/my%20db"), &[]));
    assert_eq!(report, Report::default());
    let all: Vec<Got> = got.try_iter().collect();
    assert!(all[0].0.starts_with("/query?q=CREATE+DATABASE+"), "{}", all[0].0);
    assert!(all[1].0.starts_with("/write?consistency=&db=") && all[1].0.ends_with("&precision=ns&rp="), "{}", all[1].0);
    let text: String = all[1..].iter().map(|(_, body)| String::from_utf8(body.clone()).unwrap()).collect();
    let line = "http_reqs,name=x\\,\\ \"y\",own=o,scenario=a url=\"http://x/ y\",value=1 1796095490500000000";
    assert_eq!(text.lines().next(), Some(line));
    assert_eq!(text.lines().count(), 7);
    assert!(all.len() >= 3, "seconds are sent as they pass");
}

#[test]
fn a_dead_server_is_said_once_and_counted() {
    let (address, _got) = receiver("500 Internal Server Error");
    let (report, said) = output(wish(&format!("influxdb=http://me:s3cret@{address}/db"), &[]));
    assert!(!report.is_incomplete && report.troubles.len() == 1, "{report:?}");
    assert!(report.troubles[0].contains("deliveries were lost") && report.troubles[0].contains("500"), "{report:?}");
    assert!(said.len() == 1 && said[0].contains(&address) && !said[0].contains("s3cret"), "{said:?}");
}

#[test]
fn what_is_not_supported_is_named() {
    let none = |_: &str| None;
    for name in ["web-dashboard", "cloud", "statsd", "datadog", "kafka"] {
        assert!(parse(name, &none).unwrap_err().contains(name));
    }
    assert!(parse("nonsense=1", &none).unwrap_err().contains("there are json, csv"));
    assert!(parse("opentelemetry", &none).unwrap_err().contains("gRPC"));
    assert!(parse("influxdb=ftp://x/y", &none).unwrap_err().contains("ftp"));
    let get = |name: &str| (name == "K6_CSV_TIME_FORMAT").then(|| "stardate".to_owned());
    assert!(parse("csv", &get).unwrap_err().contains("stardate"));
}

/// Fields of a message of protocol buffers: number, and what is in it.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Field)> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let mut take = |length: usize| {
            let (part, rest) = bytes.split_at(length);
            bytes = rest;
            part.to_vec()
        };
        let field = match key & 7 {
            0 => Field::Whole(varint(&mut bytes)),
            1 => Field::Number(f64::from_le_bytes(take(8).try_into().unwrap())),
            2 => {
                let length = varint(&mut bytes) as usize;
                let (part, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(part.to_vec())
            }
            other => panic!("wire type {other}"),
        };
        all.push((key >> 3, field));
    }
    all
}

#[derive(Clone, Debug, PartialEq)]
enum Field {
    Whole(u64),
    Number(f64),
    Bytes(Vec<u8>),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            break;
        }
    }
    value
}

fn inner(of: &[(u64, Field)], number: u64) -> Vec<Vec<u8>> {
    let bytes = |field: &Field| match field {
        Field::Bytes(bytes) => bytes.clone(),
        other => panic!("{other:?}"),
    };
    of.iter().filter(|(known, _)| *known == number).map(|(_, field)| bytes(field)).collect()
}

fn text(of: &[(u64, Field)], number: u64) -> String {
    inner(of, number).first().map_or_else(String::new, |bytes| String::from_utf8(bytes.clone()).unwrap())
}

fn number(of: &[(u64, Field)], wanted: u64) -> f64 {
    match of.iter().find(|(known, _)| *known == wanted) {
        Some((_, Field::Number(value))) => *value,
        other => panic!("{other:?}"),
    }
}

/// The series of the last delivery: labels, value, number of native histograms.
fn series(got: &Receiver<Got>) -> Vec<(String, Option<f64>, usize)> {
    let (_, body) = got.try_iter().last().unwrap();
    let request = fields(&snap::raw::Decoder::new().decompress_vec(&body).unwrap());
    let one = |bytes: Vec<u8>| {
        let of = fields(&bytes);
        let label = |bytes: Vec<u8>| format!("{}={}", text(&fields(&bytes), 1), text(&fields(&bytes), 2));
        let labels: Vec<String> = inner(&of, 1).into_iter().map(label).collect();
        let value = inner(&of, 2).first().map(|bytes| number(&fields(bytes), 1));
        (labels.join(","), value, inner(&of, 4).len())
    };
    inner(&request, 1).into_iter().map(one).collect()
}

#[test]
fn prometheus_gets_totals_under_the_names_of_k6() {
    let (address, got) = receiver("204 No Content");
    let url = format!("http://{address}/api/v1/write");
    let env = [
        ("K6_PROMETHEUS_RW_SERVER_URL", url.as_str()),
        ("K6_PROMETHEUS_RW_TREND_STATS", "avg,max,count"),
        ("K6_PROMETHEUS_RW_PUSH_INTERVAL", "60s"),
    ];
    let (report, _) = output(wish("experimental-prometheus-rw", &env));
    assert_eq!(report, Report::default());
    let series = series(&got);
    let value = |name: &str| {
        let of = |labels: &str| labels.split(',').next() == Some(&format!("__name__=k6_{name}"));
        series.iter().find(|(labels, ..)| of(labels)).unwrap_or_else(|| panic!("{name} in {series:?}")).1.unwrap()
    };
    assert_eq!((value("http_reqs_total"), value("vus"), value("ratio_rate")), (2.0, 7.0, 0.5));
    assert!((value("http_req_duration_avg") - 0.008).abs() < 1e-9, "in seconds");
    assert_eq!((value("http_req_duration_max"), value("http_req_duration_count")), (0.012, 2.0));
    assert!(series[0].0.contains("name=x, \"y\",own=o,scenario=a,url=http://x/ y"), "{series:?}");
}

#[test]
fn prometheus_gets_native_histograms_if_wanted() {
    let (address, got) = receiver("204 No Content");
    let url = format!("http://{address}/w");
    let env = [("K6_PROMETHEUS_RW_SERVER_URL", url.as_str()), ("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", "true")];
    output(wish("experimental-prometheus-rw", &env));
    let series = series(&got);
    let trend = series.iter().find(|(labels, ..)| labels.contains("__name__=k6_http_req_duration_seconds,"));
    assert_eq!(trend.map(|(_, value, histograms)| (*value, *histograms)), Some((None, 1)), "{series:?}");
}

#[test]
fn opentelemetry_gets_totals_under_the_names_of_k6() {
    let (address, got) = receiver("200 OK");
    let env = [
        ("K6_OTEL_EXPORTER_TYPE", "http"),
        ("K6_OTEL_HTTP_EXPORTER_INSECURE", "true"),
        ("K6_OTEL_HTTP_EXPORTER_ENDPOINT", address.as_str()),
        ("K6_OTEL_METRIC_PREFIX", "p_"),
    ];
    let (report, _) = output(wish("opentelemetry", &env));
    assert_eq!(report, Report::default());
    let (path, body) = got.try_iter().last().unwrap();
    assert_eq!(path, "/v1/metrics");
    let scope = fields(&inner(&fields(&inner(&fields(&body), 1)[0]), 2)[0]);
    let metrics: Vec<_> = inner(&scope, 2).iter().map(|bytes| fields(bytes)).collect();
    let metric = |name: &str| metrics.iter().find(|of| text(of, 1) == name).unwrap_or_else(|| panic!("{name}"));
    let points = |name: &str, data: u64| {
        let data = fields(&inner(metric(name), data)[0]);
        inner(&data, 1).iter().map(|bytes| fields(bytes)).collect::<Vec<_>>()
    };
    assert_eq!(number(&points("p_http_reqs", 7)[0], 4), 2.0);
    assert_eq!(number(&points("p_vus", 5)[0], 4), 7.0);
    assert_eq!(points("p_ratio", 7).iter().map(|point| number(point, 4)).collect::<Vec<_>>(), [1.0, 1.0]);
    let duration = &points("p_http_req_duration", 9)[0];
    assert_eq!((number(duration, 5), number(duration, 11), number(duration, 12)), (16.0, 4.0, 12.0));
    assert_eq!(text(metric("p_http_req_duration"), 3), "ms");
}
