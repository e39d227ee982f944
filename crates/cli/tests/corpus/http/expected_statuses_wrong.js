// Wrong words for it.
import http from 'k6/http';
export default function () {
  const tries = [() => http.expectedStatuses(), () => http.expectedStatuses('200'), () => http.expectedStatuses({ min: 200 }), () => http.setResponseCallback('x')];
  tries.forEach((one, i) => {
    try { one(); console.log(i, 'taken'); } catch (error) { console.log(i, 'refused'); }
  });
}
