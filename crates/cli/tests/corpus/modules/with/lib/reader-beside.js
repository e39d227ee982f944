export const text = open('../text.txt');
