// Line by line.
import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const file = await open('./with/table.csv');
const parser = new csv.Parser(file, { skipFirstLine: true });
export const options = { iterations: 4 };
export default async function () {
  const { done, value } = await parser.next();
  console.log(done, JSON.stringify(value));
}
