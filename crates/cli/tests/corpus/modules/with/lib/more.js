export const more = 'more';
export { more as evenMore };
