const path = require('./lib/more.js');
module.exports = { name: `common ${path.more}`, add: (a, b) => a + b };
