// open() reads text and bytes, relative to the script.
const text = open('./with/people.json');
const bytes = open('with/people.json', 'b');
const people = JSON.parse(text);
export default function () {
  console.log(people.length, people[0].name, text.length, bytes instanceof ArrayBuffer, bytes.byteLength);
  console.log(new Uint8Array(bytes)[0], typeof open);
}
