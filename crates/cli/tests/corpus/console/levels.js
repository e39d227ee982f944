// Each level.
export default function () {
  console.log('log');
  console.info('info');
  console.warn('warn');
  console.error('error');
  console.debug('debug is not shown');
}
