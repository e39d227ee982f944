// Some lines only.
import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const rows = await csv.parse(await open('./with/table.csv'), { fromLine: 1, toLine: 2 });
export default function () { console.log(rows.length, JSON.stringify(rows[0])); }
