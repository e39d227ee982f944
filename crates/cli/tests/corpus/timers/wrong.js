// What is no function.
export default function () {
  try { setTimeout('text', 5); console.log('taken'); } catch (error) { console.log('refused'); }
  try { setInterval(); console.log('taken'); } catch (error) { console.log('refused'); }
}
