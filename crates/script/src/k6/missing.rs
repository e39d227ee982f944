//! Modules of k6 that are not here, and where to turn instead: one sentence each.

/// Names and sentences.
pub(super) const MISSING: &[(&str, &str)] = &[
    (
        "k6/browser",
        "k6/browser is not supported: it drives a browser, and only scripts of protocols run here; leave the import and the \
         scenarios with `options.browser` out",
    ),
    (
        "k6/experimental/redis",
        "k6/experimental/redis is not supported, and k6 itself has removed it in 2.0: prepare the data beforehand and read \
         them with open(), a SharedArray or k6/experimental/csv",
    ),
];

/// Modules that k6 itself has no more: importing one is a mistake of the script.
pub(super) const GONE: &[(&str, &str)] = &[
    (
        "k6/experimental/browser",
        "k6/experimental/browser is gone from k6: it is k6/browser now, which is not supported here",
    ),
    ("k6/experimental/grpc", "k6/experimental/grpc is gone from k6: import k6/net/grpc instead"),
    (
        "k6/experimental/timers",
        "k6/experimental/timers is gone from k6: setTimeout and the like are in k6/timers and global",
    ),
    (
        "k6/experimental/tracing",
        "k6/experimental/tracing is gone from k6: use the jslib http-instrumentation-tempo instead",
    ),
    ("k6/experimental/webcrypto", "k6/experimental/webcrypto is gone from k6: use the global `crypto` instead"),
];
