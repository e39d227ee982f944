export const there = 'there';
