// open() outside the init context throws.
export default function () {
  try { open('./with/people.json'); console.log('read'); } catch (error) { console.log('refused'); }
}
