//! TLS: the machine's trust roots (or those in `SSL_CERT_FILE`), or none at all if the plan says so.

use std::sync::Arc;

use model::plan::HttpVersion;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, ProtocolVersion, RootCertStore, SignatureScheme};

use super::failure;
use crate::user::{Failure, GrpcTls};

/// The settings of all TLS connections of one worker. Sessions are not resumed: each user is a new client.
pub(crate) fn config(skip_verify: bool, version: HttpVersion) -> Arc<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("ring offers the default versions");
    let mut config = if skip_verify {
        let verifier = Arc::new(TakesAll(provider));
        builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
    } else {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        builder.with_root_certificates(roots).with_no_client_auth()
    };
    let offered: &[&[u8]] = match version {
        HttpVersion::Agreed => &[b"h2", b"http/1.1"],
        HttpVersion::Http1 => &[b"http/1.1"],
        HttpVersion::Http2 => &[b"h2"],
    };
    config.alpn_protocols = offered.iter().map(|protocol| protocol.to_vec()).collect();
    // Writes nothing unless SSLKEYLOGFILE names a file.
    config.key_log = Arc::new(rustls::KeyLogFile::new());
    config.resumption = Resumption::disabled();
    Arc::new(config)
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

/// A version in k6's words.
pub(crate) fn version(version: Option<ProtocolVersion>) -> Option<&'static str> {
    match version? {
        ProtocolVersion::TLSv1_2 => Some("tls1.2"),
        ProtocolVersion::TLSv1_3 => Some("tls1.3"),
        _ => None,
    }
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
