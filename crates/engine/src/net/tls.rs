//! TLS: the machine's trust roots (or those in `SSL_CERT_FILE`), or none at all if the plan says so; versions, cipher
//! suites and client certificates as the plan says.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use model::network::{ClientCertificate, TlsSettings, TlsVersion};
use model::plan::{HttpSettings, HttpVersion};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ResolvesClientCert, Resumption};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{
    CipherSuite, ClientConfig, DigitallySignedStruct, ProtocolVersion, RootCertStore, SignatureScheme,
    SupportedProtocolVersion, version,
};
use url::Host;

use super::failure;
use crate::user::{Failure, GrpcTls};

/// Says in sentences what of these settings cannot be had.
///
/// # Errors
/// One sentence for each option that is wrong.
pub fn check(settings: &TlsSettings) -> Result<(), Vec<String>> {
    let mut mistakes = Vec::new();
    let mut suites = Vec::new();
    for name in &settings.cipher_suites {
        match suite(name) {
            Some(suite) => suites.push(suite),
            None => {
                let known: Vec<String> = ring::DEFAULT_CIPHER_SUITES.iter().map(|it| go_name(it.suite())).collect();
                mistakes.push(format!("option `tlsCipherSuites`: `{name}` is none of {}", known.join(", ")));
            }
        }
    }
    if versions(settings).is_empty() {
        mistakes.push(
            "option `tlsVersion`: only TLS 1.2 and 1.3 can be spoken here (1.0 and 1.1 are broken and not built in), and \
             the range holds neither"
                .to_owned(),
        );
    }
    for (at, certificate) in settings.auth.iter().enumerate() {
        if let Err(error) = certified(certificate) {
            mistakes.push(format!("option `tlsAuth`[{at}]: {error}"));
        }
    }
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

/// A suite by the name that k6 gives it.
fn suite(name: &str) -> Option<CipherSuite> {
    let known = ring::DEFAULT_CIPHER_SUITES.iter().map(|suite| suite.suite());
    // Go's older names of two suites end earlier.
    known.into_iter().find(|suite| {
        let full = go_name(*suite);
        full == name || (name.ends_with("_CHACHA20_POLY1305") && full == format!("{name}_SHA256"))
    })
}

fn go_name(suite: CipherSuite) -> String {
    format!("{suite:?}").replace("TLS13_", "TLS_")
}

fn versions(settings: &TlsSettings) -> Vec<&'static SupportedProtocolVersion> {
    let (min, max) =
        (settings.version_min.unwrap_or(TlsVersion::Tls10), settings.version_max.unwrap_or(TlsVersion::Tls13));
    let known = [(TlsVersion::Tls12, &version::TLS12), (TlsVersion::Tls13, &version::TLS13)];
    known.into_iter().filter(|(version, _)| (min..=max).contains(version)).map(|(_, known)| known).collect()
}

/// The suites to offer: those of TLS 1.3 cannot be chosen, as in Go.
fn provider(settings: &TlsSettings) -> CryptoProvider {
    let mut provider = ring::default_provider();
    let wanted: Vec<CipherSuite> = settings.cipher_suites.iter().filter_map(|name| suite(name)).collect();
    if !wanted.is_empty() {
        provider.cipher_suites.retain(|suite| suite.tls13().is_some() || wanted.contains(&suite.suite()));
    }
    provider
}

/// Certificate and key, read.
fn certified(certificate: &ClientCertificate) -> Result<Arc<CertifiedKey>, String> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate.certificate.as_bytes()).collect();
    let chain = chain.map_err(|error| format!("the certificate is no PEM ({error})"))?;
    if chain.is_empty() {
        return Err("the certificate holds no `BEGIN CERTIFICATE` block of PEM".to_owned());
    }
    if certificate.key.contains("ENCRYPTED") {
        return Err(
            "a private key with a password is not supported: take it away with `openssl pkey -in key.pem`".to_owned()
        );
    }
    let key = PrivateKeyDer::from_pem_slice(certificate.key.as_bytes())
        .map_err(|_| "the key holds no private key in PEM (PKCS#8, PKCS#1 or SEC1)".to_owned())?;
    CertifiedKey::from_der(chain, key, &ring::default_provider())
        .map(Arc::new)
        .map_err(|error| format!("certificate and key cannot be used together ({error})"))
}

/// The settings of all TLS connections of one worker. Sessions are not resumed: each user is a new client.
pub(crate) struct Tls {
    skip_verify: bool,
    /// Protocols, the best first.
    offered: Vec<Vec<u8>>,
    settings: TlsSettings,
    keys: Vec<Arc<CertifiedKey>>,
    /// By the certificates that may be shown.
    configs: RefCell<HashMap<Vec<usize>, Arc<ClientConfig>>>,
}

impl Tls {
    pub(crate) fn new(http: &HttpSettings, settings: &TlsSettings) -> Self {
        let keys = settings.auth.iter().map(|one| certified(one).expect("the plan was checked")).collect();
        let offered: &[&[u8]] = match http.http_version {
            HttpVersion::Agreed => &[b"h2", b"http/1.1"],
            HttpVersion::Http1 => &[b"http/1.1"],
            HttpVersion::Http2 => &[b"h2"],
        };
        Self {
            skip_verify: http.insecure_skip_tls_verify,
            offered: offered.iter().map(|protocol| protocol.to_vec()).collect(),
            settings: settings.clone(),
            keys,
            configs: RefCell::default(),
        }
    }

    /// The settings of connections to `host`.
    pub(crate) fn config(&self, host: &Host<String>) -> Arc<ClientConfig> {
        let fits = |certificate: &ClientCertificate| {
            let domains = &certificate.domains;
            domains.is_empty() || domains.iter().any(|domain| domain.holds(&host.to_string()))
        };
        let own: Vec<usize> = (0..self.keys.len()).filter(|&index| fits(&self.settings.auth[index])).collect();
        self.configs.borrow_mut().entry(own).or_insert_with_key(|own| self.make(own)).clone()
    }

    fn make(&self, own: &[usize]) -> Arc<ClientConfig> {
        let provider = Arc::new(provider(&self.settings));
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&versions(&self.settings))
            .expect("the plan was checked");
        let builder = if self.skip_verify {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(TakesAll(provider)))
        } else {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            builder.with_root_certificates(roots)
        };
        let keys: Vec<_> = own.iter().map(|&index| self.keys[index].clone()).collect();
        let mut config = if keys.is_empty() {
            builder.with_no_client_auth()
        } else {
            builder.with_client_cert_resolver(Arc::new(Shows(keys)))
        };
        config.alpn_protocols.clone_from(&self.offered);
        // Writes nothing unless SSLKEYLOGFILE names a file.
        config.key_log = Arc::new(rustls::KeyLogFile::new());
        config.resumption = Resumption::disabled();
        Arc::new(config)
    }
}

/// Shows the first certificate whose key can sign as the service wants.
#[derive(Debug)]
struct Shows(Vec<Arc<CertifiedKey>>);

impl ResolvesClientCert for Shows {
    fn resolve(&self, _: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.0.iter().find(|key| key.key.choose_scheme(schemes).is_some()).cloned()
    }

    fn has_certs(&self) -> bool {
        true
    }
}

/// The settings of one gRPC channel.
///
/// # Errors
/// If what the script gave is no PEM, or does not fit together.
pub(crate) fn grpc_config(wanted: &GrpcTls, skip_verify: bool) -> Result<Arc<ClientConfig>, Failure> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("ring offers the default versions");
    let wrong = |what: &str, error: &dyn std::fmt::Display| failure::other(format!("tls: {what}: {error}"));
    let builder = if skip_verify {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(TakesAll(provider)))
    } else {
        let mut roots = RootCertStore::empty();
        for (index, authority) in wanted.authorities.iter().enumerate() {
            let certificates: Vec<_> = CertificateDer::pem_slice_iter(authority.as_bytes()).flatten().collect();
            if roots.add_parsable_certificates(certificates).0 == 0 {
                return Err(failure::other(format!("failed to append ca certificate [{index}] from PEM")));
            }
        }
        if wanted.authorities.is_empty() {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        builder.with_root_certificates(roots)
    };
    let mut config = match &wanted.identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate.as_bytes()).collect();
            let chain = chain.map_err(|error| wrong("the client's certificate is no PEM", &error))?;
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes());
            let key = key.map_err(|error| wrong("the client's key is no PEM", &error))?;
            let config = builder.with_client_auth_cert(chain, key);
            config.map_err(|error| wrong("the client's certificate and key cannot be used", &error))?
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

/// What two sides agreed on, in k6's words and under its registered name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreed {
    pub(crate) version: &'static str,
    pub(crate) cipher_suite: &'static str,
}

/// What the two sides of a session agreed on.
pub(crate) fn agreed(session: &rustls::ClientConnection) -> Option<Agreed> {
    let version = match session.protocol_version()? {
        ProtocolVersion::TLSv1_2 => "tls1.2",
        ProtocolVersion::TLSv1_3 => "tls1.3",
        _ => return None,
    };
    let cipher_suite = match session.negotiated_cipher_suite()?.suite() {
        CipherSuite::TLS13_AES_128_GCM_SHA256 => "TLS_AES_128_GCM_SHA256",
        CipherSuite::TLS13_AES_256_GCM_SHA384 => "TLS_AES_256_GCM_SHA384",
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => "TLS_CHACHA20_POLY1305_SHA256",
        other => other.as_str().unwrap_or_default(),
    };
    Some(Agreed { version, cipher_suite })
}

/// Takes every certificate (`insecureSkipTLSVerify`), though not every signature.
#[derive(Debug)]
struct TakesAll(Arc<CryptoProvider>);

impl ServerCertVerifier for TakesAll {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
