// Parts of `k6/http` that need nothing of the host.
(function () {
  'use strict';
  class Url {
    constructor(name, url) { this.name = name; this.url = url; this.clean_url = url; }
    toString() { return this.url; }
  }
  // What makes a form a multipart one.
  class FileData {
    constructor(data, name, type) { this.data = data; this.filename = name; this.content_type = type; }
  }
  let files = 0;
  class ExpectedStatuses {
    constructor(ranges) { this.ranges = ranges; }
  }
  const isStatus = (value) => Number.isInteger(value) && value >= 0 && value <= 65535;
  return {
    // A template tag: the name keeps a hole where each value goes.
    url: function url(parts, ...values) {
      let [name, whole] = [parts[0], parts[0]];
      for (let i = 0; i < values.length; i++) {
        name += '${}' + parts[i + 1];
        whole += values[i] + parts[i + 1];
      }
      return new Url(name, whole);
    },
    file: function file(data, name, type) {
      if (typeof data !== 'string' && !(data instanceof ArrayBuffer)) {
        throw new TypeError('http.file() takes the content as a text or an ArrayBuffer');
      }
      return new FileData(data, name || `file${files++}`, type || 'application/octet-stream');
    },
    expectedStatuses: function expectedStatuses(...wanted) {
      if (wanted.length === 0) throw new TypeError('expectedStatuses() needs at least one status or {min, max}');
      return new ExpectedStatuses(wanted.map((one) => {
        const [low, high] = typeof one === 'object' && one !== null ? [one.min, one.max] : [one, one];
        if (!isStatus(low) || !isStatus(high)) {
          throw new TypeError('expectedStatuses() takes statuses and objects of the form {min: 200, max: 299}');
        }
        return [low, high];
      }));
    },
  };
})()
