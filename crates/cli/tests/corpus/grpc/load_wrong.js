// exit: 107
// A file that is no proto.
import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([], './with/nowhere.proto');
export default function () {}
