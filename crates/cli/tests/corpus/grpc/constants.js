// Codes of gRPC.
import grpc from 'k6/net/grpc';
export default function () {
  const names = Object.keys(grpc).filter((name) => name.startsWith('Status')).sort();
  for (const name of names) console.log(name, grpc[name]);
}
