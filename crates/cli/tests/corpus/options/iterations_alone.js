// args: -i 3
export default function () { console.log(__ITER); }
