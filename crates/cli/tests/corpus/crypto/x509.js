// Certificates are read.
import x509 from 'k6/crypto/x509';
const pem = open('./with/certificate.pem');
export default function () {
  const certificate = x509.parse(pem);
  console.log(certificate.subject.commonName, certificate.issuer.commonName, certificate.subject.country);
  console.log(certificate.notBefore, certificate.notAfter, certificate.signatureAlgorithm);
  console.log(JSON.stringify(certificate.altNames), certificate.publicKey.algorithm);
  console.log(JSON.stringify(x509.getAltNames(pem)), x509.getSubject(pem).commonName, x509.getIssuer(pem).commonName);
  try { x509.parse('no certificate'); console.log('read'); } catch (error) { console.log('refused'); }
}
