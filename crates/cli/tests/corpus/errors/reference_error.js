// A name that is none.
export default function () { nowhere(); }
