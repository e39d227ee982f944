//! Globals of the web platform.

use engine::user::Ending;
use script::LoadSettings;

use crate::driver::{ISOLATIONS, stage, stage_with};

fn log_of(body: &str) -> String {
    let text = format!(
        "const t = (f) => {{ try {{ const v = f(); console.log(typeof v === 'object' ? JSON.stringify(v) : v); }} catch (e) {{ console.log(`${{e.name}}: ${{e.message}}`); }} }};
         export default async function () {{ {body} }}"
    );
    stage(&text).log_of_run().join("\n")
}

#[test]
fn urls_follow_the_rules() {
    let body = "
        const u = new URL('../b c?x=1&y=%C3%A9#h', 'https://me:pw@Example.com:8443/a/z/');
        t(() => u.href); t(() => [u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash]);
        t(() => u.searchParams.get('y')); t(() => { u.searchParams.append('z', 'a b'); return u.href; });
        t(() => { u.search = '?q=2'; return [u.searchParams.get('q'), u.searchParams.get('x'), u.searchParams === u.searchParams]; });
        t(() => { u.port = ''; u.hash = ''; u.pathname = '/n'; u.protocol = 'http'; u.hostname = 'h'; u.username = ''; u.password = ''; return `${u}`; });
        t(() => { u.href = 'http://i/?k=v'; return [u.searchParams.get('k'), JSON.stringify(u), Object.prototype.toString.call(u)]; });
        t(() => new URL('nope')); t(() => new URL('/x', 'nope')); t(() => new URL()); t(() => { u.href = 'x'; });
        t(() => [URL.canParse('http://x'), URL.canParse('x'), URL.parse('x')]); t(() => new URL('http://[::1]:80/').host);";
    insta::assert_snapshot!(log_of(body));
}

#[test]
fn search_parameters_are_a_list() {
    let body = "
        const p = new URLSearchParams('?a=1&b=2&a=3&c=%20+');
        t(() => [p.get('a'), p.getAll('a'), p.get('zz'), p.has('b'), p.has('b', '9'), p.size, p.get('c')]);
        t(() => { p.set('a', 9); p.append('d', '&='); p.delete('b'); return p.toString(); });
        t(() => [[...p], [...p.keys()], [...p.values()]]); t(() => { const l = []; p.forEach((v, k) => l.push(k + v)); return l; });
        t(() => `${new URLSearchParams({ x: 1, y: 'é' })}`); t(() => `${new URLSearchParams([['b', 2], ['a', 1]])}`); t(() => `${new URLSearchParams(new Map([['m', 1]]))}`);
        t(() => { const s = new URLSearchParams('z=1&a=2&z=0'); s.sort(); s.delete('z', '1'); return `${s}`; });
        t(() => new URLSearchParams([['a']])); t(() => p.append('x')); t(() => `${new URLSearchParams(p)}`); t(() => `${new URLSearchParams()}|`);";
    insta::assert_snapshot!(log_of(body));
}

#[test]
fn texts_become_bytes_and_bytes_texts() {
    let body = "
        t(() => [...new TextEncoder().encode('h\\u00e9\\ud800')]); t(() => [...new TextEncoder().encode()]);
        t(() => { const b = new Uint8Array(3); return [new TextEncoder().encodeInto('a\\u20acb', b), [...b]]; });
        t(() => new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 104, 0xc3, 0xa9, 0xff])));
        t(() => new TextDecoder('utf-8', { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf, 104])).length);
        t(() => new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff])));
        t(() => new TextDecoder('utf-16le').decode(new Uint8Array([104, 0, 0x3d, 0xd8, 0, 0xde]))); t(() => new TextDecoder('utf-16be').decode(new Uint8Array([0, 104]).buffer));
        t(() => { const d = new TextDecoder('latin1'); return [d.encoding, d.decode(new Uint8Array([0xe9])), d.fatal]; }); t(() => new TextDecoder('klingon'));
        t(() => { const d = new TextDecoder(); return [d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }), d.decode(new Uint8Array([0xac]), { stream: true }), d.decode()]; });
        t(() => { const d = new TextDecoder(); return [d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }), d.decode()]; });
        t(() => new TextDecoder().decode('x')); t(() => new TextDecoder().decode(new DataView(new Uint8Array([97, 98]).buffer, 1)));";
    insta::assert_snapshot!(log_of(body));
}

#[test]
fn clones_are_deep() {
    let body = "
        const o = { a: [1, { b: 2 }], d: new Date(5), m: new Map([[1, { x: 1 }]]), s: new Set([1]), u: undefined, n: null, r: /x/gi, t: new Uint16Array([1, 2]) };
        o.self = o; const c = structuredClone(o);
        t(() => [c !== o, c.self === c, c.a[1] !== o.a[1], c.a, c.d.getTime(), c.m.get(1), c.m.get(1) !== o.m.get(1), [...c.s], 'u' in c, c.r.flags, [...c.t], c.t.buffer !== o.t.buffer]);
        t(() => structuredClone(new TypeError('x', { cause: 1 })) instanceof TypeError); t(() => structuredClone(() => 1)); t(() => structuredClone({ s: Symbol('x') })); t(() => structuredClone(Promise.resolve()));
        t(() => { const b = new ArrayBuffer(4); const k = structuredClone(b, { transfer: [b] }); return [b.byteLength, k.byteLength]; }); t(() => structuredClone()); t(() => structuredClone('x'));
        t(() => btoa(atob('aGk='))); t(() => atob('*')); t(() => global === globalThis); t(() => typeof performance.now());
        let ran = 0; queueMicrotask(() => { ran = 1; }); await null; t(() => ran);";
    insta::assert_snapshot!(log_of(body));
}

#[test]
fn scripts_may_bring_their_own_and_keep_it_to_themselves() {
    let text = "
        if (__VU === 1) { globalThis.URL = class Mine {}; global.TextEncoder = 5; global.global = 7; }
        export default function () { console.log(URL.name, typeof TextEncoder, typeof global, new URLSearchParams('a=1').get('a')); }";
    for isolation in ISOLATIONS {
        let stage = &mut stage_with(text, LoadSettings { isolation, ..LoadSettings::default() }, |_| {});
        let mut users = [1, 2].map(|vu| stage.nursery.user(vu).unwrap());
        for user in &mut users {
            assert_eq!(stage.iterate(&mut **user).ending, Ending::Completed);
        }
        let log: Vec<_> = stage.meter.take_log().into_iter().map(|line| line.text).collect();
        assert_eq!(log, ["Mine number number 1", "URL function object 1"]);
    }
}

#[test]
fn web_crypto_gives_what_k6_gives() {
    insta::assert_snapshot!(stage(include_str!("data/webcrypto.js")).log_of_run().join("\n"));
}
