// Rows as objects.
import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const file = await open('./with/table.csv');
const rows = await csv.parse(file, { asObjects: true });
export default function () { for (const row of rows) console.log(JSON.stringify(row)); }
