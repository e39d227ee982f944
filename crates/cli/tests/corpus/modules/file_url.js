// A module by its file's URL: where a module is.
export default function () {
  console.log(typeof import.meta.resolve, import.meta.resolve('./with/common.js').startsWith('file://'), import.meta.resolve('./with/common.js').endsWith('/with/common.js'));
}
