// CommonJS.
const http = require('k6/http');
const { check } = require('k6');
const lib = require('./with/common.js');
const esm = require('./with/lib/names.js');
module.exports.options = { iterations: 2 };
module.exports.default = function () {
  check(http.get(`${__ENV.BASE}/get`), { fine: (r) => r.status === 200 });
  console.log(lib.name, lib.add(1, 2), esm.second, esm.default());
};
