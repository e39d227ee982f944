//! `k6/experimental/fs`, `k6/experimental/csv`, `k6/experimental/streams` and `k6/secrets`.

use engine::user::Ending;
use script::{LoadSettings, SecretSource};

use crate::driver::{load_error, stage, stage_of_files, stage_with};

const T: &str = "const t = async (name, f) => { try { const v = await f(); console.log(name, v); } catch (e) { console.log(name, `${e.name}: ${e.message}`); } };";
const TABLE: &str = "name,age\nann,3\n\"b \"\"q\"\"\",4\n\"multi\nline\",5\n";

fn log_of_files(init: &str, body: &str) -> String {
    let script = format!(
        "import fs, {{ SeekMode }} from 'k6/experimental/fs'; import csv from 'k6/experimental/csv'; {T} let f, all; const wrong = []; (async () => {{ {init} }})(); export default async function () {{ {body} }}"
    );
    let others = [("t.csv", TABLE), ("semi.csv", "a;b\n1;2\n\n3;4\n"), ("bad.csv", "a,b\n1\n1,2\n"), ("empty.csv", "")];
    let files: Vec<_> = [("script.js", script.as_str())].into_iter().chain(others).collect();
    stage_of_files(&files).log_of_run().join("\n")
}

#[test]
fn files_are_read_piece_by_piece() {
    let body = "
        const b = new Uint8Array(6);
        await t('stat', () => f.stat()); await t('read', () => f.read(b)); await t('bytes', () => [...b]); await t('on', () => f.seek(2, SeekMode.Current)); await t('back', () => f.seek(-4, SeekMode.End));
        await t('rest', () => f.read(b)); await t('bytes', () => [...b]); await t('end', () => f.read(b)); await t('start', () => f.seek(1, SeekMode.Start));
        for (const [offset, whence] of [[-1, 0], [1000, 0], [3, 2], [0, 9], [undefined, 0], [1.5, 0], [null, 0], ['x', 0]]) await t('wrong', () => f.seek(offset, whence));
        for (const into of [undefined, new ArrayBuffer(3), new Uint16Array(2), [1]]) await t('wrong', () => f.read(into));
        await t('none', () => f.read(new Uint8Array(0))); await t('late', () => fs.open('t.csv')); console.log(f.path.endsWith('/t.csv'));";
    insta::assert_snapshot!(log_of_files("f = await fs.open('t.csv');", body));
}

#[test]
fn what_cannot_be_opened_says_why() {
    let text = format!("import fs from 'k6/experimental/fs'; {T} const lines = []; (async () => {{
        for (const path of ['nope', '.', '', undefined, null]) try {{ await fs.open(path); }} catch (e) {{ lines.push(`${{e.name}}: ${{e.message}}`); }}
        throw new Error(lines.join(' | ')); }})(); export default function () {{}}");
    let error = load_error(&text);
    for part in [
        "NotFoundError: cannot open nope: there is no such file",
        "InvalidResourceError: cannot open .: it is a directory",
        "TypeError: fs.open() needs the path of a file",
    ] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn tables_are_parsed_whole_and_shared() {
    let init = "const o = (name) => fs.open(name);
        all = { plain: await csv.parse(await o('t.csv')), skip: await csv.parse(await o('t.csv'), { skipFirstLine: true }), objects: await csv.parse(await o('t.csv'), { asObjects: true }),
            semi: await csv.parse(await o('semi.csv'), { delimiter: ';' }), lines: await csv.parse(await o('t.csv'), { fromLine: 1, toLine: 2 }), one: await csv.parse(await o('t.csv'), { asObjects: true, toLine: 1 }),
            both: await csv.parse(await o('t.csv'), { skipFirstLine: true, fromLine: 2 }), empty: await csv.parse(await o('empty.csv')) };
        const again = await o('t.csv'); await csv.parse(again); all.read = await csv.parse(again);
        for (const [name, options] of [['bad.csv', {}], ['t.csv', { delimiter: 'ab' }], ['t.csv', { delimiter: '\u{e9}' }], ['t.csv', { fromLine: -1 }], ['t.csv', { fromLine: 2, toLine: 1 }], ['t.csv', { asObjects: true, skipFirstLine: true }], ['t.csv', { asObjects: true, fromLine: 1 }], ['t.csv', { fromLine: 9 }]])
          try { await csv.parse(await o(name), options); wrong.push('none'); } catch (e) { wrong.push(`${e.name}: ${e.message.replace(/^.*\\//, '')}`); }
        try { await csv.parse('x'); } catch (e) { wrong.push(e.message); }";
    let body = "for (const name in all) console.log(name, all[name]); console.log(all.plain.length, Array.isArray(all.plain), all.plain === all.plain);
        await t('frozen', () => { all.plain[0] = 1; }); await t('deep', () => { all.plain[1].push(1); }); wrong.forEach((line) => console.log(line));";
    insta::assert_snapshot!(log_of_files(init, body));
}

#[test]
fn tables_are_parsed_record_by_record() {
    let init = "all = { plain: new csv.Parser(await fs.open('t.csv')), objects: new csv.Parser(await fs.open('t.csv'), { asObjects: true }), bad: new csv.Parser(await fs.open('bad.csv')), lines: new csv.Parser(await fs.open('t.csv'), { fromLine: 1, toLine: 2 }) }; f = await fs.open('t.csv');";
    let body = "for (const name in all) for (let i = 0; i < 5; i++) await t(name, () => all[name].next()); await t('late', () => new csv.Parser(f)); await t('late', () => csv.parse(f));";
    insta::assert_snapshot!(log_of_files(init, body));
}

#[test]
fn values_flow_through_streams() {
    let text = format!("import {{ ReadableStream, WritableStream, CountQueuingStrategy, ReadableStreamDefaultReader }} from 'k6/experimental/streams'; {T}
        export default async function () {{
          const log = [];
          const s = new ReadableStream({{ start(c) {{ log.push('start', c.desiredSize); }}, pull(c) {{ log.push('pull', c.desiredSize); c.enqueue(log.length); if (log.length > 10) c.close(); }} }}, {{ highWaterMark: 2 }});
          const r = s.getReader(); await t('locked', () => s.locked); for (let i = 0; i < 7; i++) await t('read', () => r.read()); await t('again', () => s.getReader()); await t('log', () => log); await t('closed', () => r.closed);
          const e = new ReadableStream({{ start(c) {{ c.error(new Error('bad')); }} }}).getReader(); await t('failed', () => e.read()); await t('failed', () => e.closed);
          const c = new ReadableStream({{ start(c) {{ c.enqueue(1); }}, cancel(why) {{ log.push('cancelled ' + why); }} }}); await t('cancel', () => c.cancel('why')); await t('log', () => log.at(-1));
          const l = new ReadableStream().getReader(); l.releaseLock(); await t('released', () => l.read()); await t('released', () => l.closed); await t('released', () => new ReadableStreamDefaultReader(5));
          await t('count', () => [new CountQueuingStrategy({{ highWaterMark: 3 }}).highWaterMark, new CountQueuingStrategy({{ highWaterMark: 3 }}).size(5)]); await t('count', () => new CountQueuingStrategy());
          for (const [source, strategy] of [[{{}}, {{ highWaterMark: -1 }}], [{{ type: 'bytes' }}], [{{ start() {{ throw new Error('st'); }} }}], [{{ pull: 5 }}]]) await t('wrong', () => new ReadableStream(source, strategy));
          const walked = []; for await (const v of new ReadableStream({{ start(c) {{ c.enqueue(1); c.enqueue(2); c.close(); }} }})) walked.push(v); await t('walked', () => walked);
          const got = []; const w = new WritableStream({{ write(v) {{ got.push(v); }}, close() {{ got.push('closed'); }} }}, new CountQueuingStrategy({{ highWaterMark: 2 }})).getWriter();
          await t('desired', () => w.desiredSize); w.write(1); w.write(2); await t('full', () => w.desiredSize); await w.ready; await w.write(3); await w.close(); await w.closed; await t('written', () => got); await t('late', () => w.write(4));
          const f = new WritableStream({{ write() {{ throw new Error('full'); }} }}).getWriter(); await t('failing', () => f.write(1)); await t('failed', () => f.closed); await t('failed', () => f.write(2));
          const a = []; const x = new WritableStream({{ abort(why) {{ a.push(why); }} }}); await t('aborted', () => x.abort('stop')); await t('aborted', () => a);
        }}");
    insta::assert_snapshot!(stage(&text).log_of_run().join("\n"));
}

#[test]
fn secrets_never_reach_the_log() {
    let text = format!("import secrets from 'k6/secrets'; {T}
        export default async function () {{
          const s = await secrets.get('k'); console.log('value', s, 'x' + s + 'y', s.length, {{ s }}); console.warn(s);
          await t('other', async () => (await secrets.source('vault').get('z')).length); await t('gone', () => secrets.get('nope')); await t('gone', () => secrets.source('nope').get('k'));
          console.log('unread-value'); throw new Error('has ' + s);
        }}");
    let source = |name: &str, is_default, pairs: &[(&str, &str)]| SecretSource {
        name: name.into(),
        is_default,
        values: pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
    };
    let secrets = vec![
        source("default", true, &[("k", "hush-hush"), ("u", "unread-value")]),
        source("vault", false, &[("z", "zzz")]),
    ];
    let mut stage = stage_with(&text, LoadSettings { secrets, ..LoadSettings::default() }, |_| {});
    let ending = stage.run().ending;
    assert_eq!(ending, Ending::Threw("Error: has ***SECRET_REDACTED***".into()));
    let log: Vec<_> = stage.meter.take_log().into_iter().map(|line| line.text).collect();
    assert!(log.iter().all(|line| !line.contains("hush")), "{log:?}");
    assert_eq!(log[0], r#"value ***SECRET_REDACTED*** x***SECRET_REDACTED***y 9 {"s":"***SECRET_REDACTED***"}"#);
    assert_eq!(
        log[2..6],
        [
            "other 3",
            "gone Error: cannot read a secret: the source of secrets 'default' has no 'nope'",
            "gone Error: cannot read a secret: there is no source of secrets 'nope'",
            "unread-value"
        ]
    );
    let error = load_error(
        "import secrets from 'k6/secrets'; (async () => { await secrets.get('k'); })(); export default function () {}",
    );
    assert!(error.contains("--secret-source"), "{error}");
}
