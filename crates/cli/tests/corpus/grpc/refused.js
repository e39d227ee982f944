// Nobody listens.
import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load(['./with'], 'hello.proto');
export default function () {
  try { client.connect('127.0.0.1:1', { plaintext: true, timeout: '500ms' }); console.log('connected'); } catch (error) { console.log('refused'); }
  try { client.invoke('hello.Greeter/Say', {}); console.log('invoked'); } catch (error) { console.log('no connection'); }
}
