// differs console: functions, errors, dates and circles are shown as they are
export default function () {
  console.log({ f: () => 1, n: 1 });
  console.log(new Error('an error'));
}
