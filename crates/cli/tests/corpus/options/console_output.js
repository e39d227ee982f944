// differs files: lines have no time
// args: --console-output console.log
// The console goes to a file.
export default function () { console.log('into the file'); }
