// k6/experimental/csv: all at once.
import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const rows = await csv.parse(await open('./with/table.csv'), { delimiter: ',', skipFirstLine: true });
export default function () {
  console.log(rows.length, JSON.stringify(rows[0]), JSON.stringify(rows[rows.length - 1]));
}
