// A session of requests with an address, headers and tags in common.
import http from 'k6/http';

export class Request {
  constructor(method, url, body, params) { Object.assign(this, { method, url, body, params }); }
}
export const Get = (url, body, params) => new Request('GET', url, body, params);
export const Post = (url, body, params) => new Request('POST', url, body, params);
export const Put = (url, body, params) => new Request('PUT', url, body, params);
export const Patch = (url, body, params) => new Request('PATCH', url, body, params);
export const Delete = (url, body, params) => new Request('DELETE', url, body, params);
export const Head = (url, body, params) => new Request('HEAD', url, body, params);
export const Options = (url, body, params) => new Request('OPTIONS', url, body, params);

const PARAMS = ['headers', 'tags', 'timeout', 'cookies', 'jar', 'redirects', 'auth', 'responseType', 'responseCallback', 'compression'];
const looksLikeParams = (value) => value !== null && typeof value === 'object' && !(value instanceof ArrayBuffer)
  && Object.keys(value).length > 0 && Object.keys(value).every((key) => PARAMS.includes(key));

export class Httpx {
  constructor(options = {}) {
    this.baseURL = options.baseURL || '';
    this.headers = { ...options.headers };
    this.tags = { ...options.tags };
    this.timeout = options.timeout ?? 60000;
  }

  setBaseUrl(url) { this.baseURL = url; }
  setTimeout(timeout) { this.timeout = timeout; }
  addHeader(name, value) { this.headers[name] = value; }
  addHeaders(headers) { Object.assign(this.headers, headers); }
  clearHeader(name) { delete this.headers[name]; }
  addTag(name, value) { this.tags[name] = value; }
  addTags(tags) { Object.assign(this.tags, tags); }
  clearTag(name) { delete this.tags[name]; }

  #whole(url) { return /^[a-z][a-z0-9+.\-]*:\/\//i.test(url) ? url : this.baseURL + url; }
  #params(params = {}) {
    return { timeout: this.timeout, ...params, headers: { ...this.headers, ...params?.headers }, tags: { ...this.tags, ...params?.tags } };
  }

  request(method, url, body, params) {
    if (params === undefined && looksLikeParams(body)) [body, params] = [undefined, body];
    return http.request(method, this.#whole(url), body ?? null, this.#params(params ?? {}));
  }
  asyncRequest(method, url, body, params) {
    if (params === undefined && looksLikeParams(body)) [body, params] = [undefined, body];
    if (!http.asyncRequest) throw new Error('httpx: the async methods need http.asyncRequest, which is not there');
    return http.asyncRequest(method, this.#whole(url), body ?? null, this.#params(params ?? {}));
  }

  // Requests at once, each with what the session has in common; `params` are for all of them.
  batch(requests, params = {}) {
    return http.batch(requests.map((one) => {
      const request = one instanceof Request ? one : Array.isArray(one) ? new Request(...one) : one;
      const own = { ...params, ...request.params, headers: { ...params.headers, ...request.params?.headers }, tags: { ...params.tags, ...request.params?.tags } };
      return { method: request.method ?? 'GET', url: this.#whole(request.url), body: request.body ?? null, params: this.#params(own) };
    }));
  }
}

for (const name of ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace']) {
  Httpx.prototype[name] = function (url, body, params) { return this.request(name.toUpperCase(), url, body, params); };
  const asynchronous = `async${name[0].toUpperCase()}${name.slice(1)}`;
  Httpx.prototype[asynchronous] = function (url, body, params) { return this.asyncRequest(name.toUpperCase(), url, body, params); };
}

export default { Httpx, Request, Get, Post, Put, Patch, Delete, Head, Options };
