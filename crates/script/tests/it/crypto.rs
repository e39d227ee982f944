//! `k6/crypto` and `k6/crypto/x509`, against values that k6 and openssl give.

use crate::driver::{stage, stage_of_files};

/// What the iteration logs; `t(name, function)` logs what a function gives or throws.
fn log_of(imports: &str, body: &str) -> Vec<String> {
    let text = format!(
        "{imports}
        const t = (name, f) => {{
          let value;
          try {{ value = f(); }} catch (e) {{ console.log(name, e.name, e.message); return; }}
          if (value instanceof ArrayBuffer) value = 'bytes ' + new Uint8Array(value).join();
          console.log(name, value);
        }};
        export default function () {{ {body} }}"
    );
    stage(&text).log_of_run()
}

#[test]
fn digests_of_all_algorithms_with_and_without_key() {
    let body = "for (const name of ['md4', 'md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160']) {
          const whole = crypto[name]('plimsoll', 'hex');
          const parts = crypto.createHash(name);
          parts.update('plim'); parts.update(new Uint8Array([115, 111, 108, 108]));
          const keyed = crypto.createHMAC(name, 'key');
          keyed.update('plimsoll');
          console.log(name, whole, parts.digest('hex') === whole, parts.digest('hex') === whole,
            crypto.hmac(name, 'key', 'plimsoll', 'hex') === keyed.digest('hex'), keyed.digest('base64'));
        }";
    insta::assert_snapshot!(log_of("import crypto from 'k6/crypto';", body).join("\n"));
}

#[test]
fn digests_come_in_five_encodings_and_no_other() {
    let body = "
        for (const encoding of ['hex', 'base64', 'base64url', 'base64rawurl', 'binary', 'x', undefined]) t(encoding, () => crypto.md5('a', encoding));
        t('text', () => crypto.md5('h\\u00e9', 'hex')); t('view', () => crypto.md5(new Uint8Array([98, 97, 99]).subarray(1, 2), 'hex'));
        t('wide', () => crypto.md5(new Uint16Array([97, 98]), 'hex')); t('number', () => crypto.md5(5, 'hex')); t('nothing', () => crypto.md5());
        t('unknown', () => crypto.hmac('sha25', 'k', 'd', 'hex')); t('unknown', () => crypto.createHash('x')); t('no key', () => crypto.hmac('md5', null, 'd', 'hex'));
        t('hex', () => crypto.hexEncode(new Uint8Array([1, 255]).buffer)); t('hex', () => crypto.hexEncode('ab')); t('hex', () => crypto.hexEncode(1));
        t('random', () => [crypto.randomBytes(20).byteLength, crypto.hexEncode(crypto.randomBytes(16)) !== crypto.hexEncode(crypto.randomBytes(16))].join());
        t('random', () => crypto.randomBytes(0)); t('random', () => crypto.randomBytes(-1)); t('random', () => crypto.randomBytes());";
    insta::assert_snapshot!(log_of("import crypto from 'k6/crypto';", body).join("\n"));
}

#[test]
fn certificates_are_read() {
    let text = "
        import x509 from 'k6/crypto/x509';
        const [rsa, ec, ed] = ['rsa.pem', 'ec.pem', 'ed25519.pem'].map((name) => open(name));
        const t = (f) => { try { console.log(f()); } catch (e) { console.log(e.name, e.message); } };
        const plain = (key, value) => (typeof value === 'bigint' ? `${value}n` : value);
        export default function () {
            t(() => JSON.stringify(x509.parse(rsa), plain)); t(() => JSON.stringify(x509.parse(ec), plain)); t(() => x509.parse(ed));
            t(() => x509.getSubject(ec).commonName + x509.getIssuer(rsa).organizationName + x509.getAltNames(rsa) + x509.getAltNames(ec).length);
            t(() => x509.parse('x')); t(() => x509.parse('-----BEGIN CERTIFICATE-----\\nAAAA\\n-----END CERTIFICATE-----')); t(() => x509.parse());
        }";
    let files = [
        ("script.js", text),
        ("rsa.pem", include_str!("data/rsa.pem")),
        ("ec.pem", include_str!("data/ec.pem")),
        ("ed25519.pem", include_str!("data/ed25519.pem")),
    ];
    insta::assert_snapshot!(stage_of_files(&files).log_of_run().join("\n"));
}
