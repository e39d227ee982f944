// The methods of responses that read the body as a page.
(function (pages, request) {
  'use strict';
  const { parseHTML, query, join } = pages;
  const page = (response, name) => {
    const { body } = response;
    if (body === null || body === undefined) {
      throw new TypeError(`${name}() needs the page of ${response.url}, and the response has no body: there was no answer, or bodies are discarded`);
    }
    if (typeof body !== 'string') throw new TypeError(`${name}() needs the page of ${response.url} as text: leave responseType: 'binary' out`);
    return parseHTML(body);
  };
  const address = (response, given, what) => {
    const url = join(response.url, given);
    if (url === undefined || url === null) throw new Error(`the ${what} '${given}' of ${response.url} is no URL`);
    return url;
  };
  return {
    html(selector) {
      const whole = page(this, 'html');
      return selector === undefined || selector === null ? whole : whole.find(selector);
    },
    submitForm(options) {
      const { formSelector = 'form', submitSelector = '[type="submit"]', fields = {}, params } = options ?? {};
      const form = page(this, 'submitForm').find(formSelector);
      if (form.size() === 0) throw new Error(`no form found for selector '${formSelector}' in response '${this.url}'`);
      const method = (form.attr('method') || 'GET').toUpperCase();
      const url = address(this, form.attr('action', this.url), 'action');
      const values = form.serializeObject();
      const submit = form.find(submitSelector).first();
      if (submit.attr('name') !== undefined) values[submit.attr('name')] = submit.val();
      Object.assign(values, fields);
      if (method !== 'GET') return request(method, url, values, params);
      const [, base, hash = ''] = /^([^?#]*)[^#]*(#.*)?$/.exec(url);
      const search = query(values);
      return request(method, `${base}${search === '' ? '' : `?${search}`}${hash}`, null, params);
    },
    clickLink(options) {
      const { selector = 'a[href]', params } = options ?? {};
      const link = page(this, 'clickLink').find(selector).first();
      if (link.size() === 0) throw new Error(`no element found for selector '${selector}' in response '${this.url}'`);
      const href = link.attr('href');
      if (href === undefined) throw new Error(`no valid href attribute value found on element '${selector}' in response '${this.url}'`);
      return request('GET', address(this, href, 'link'), null, params);
    },
  };
})
