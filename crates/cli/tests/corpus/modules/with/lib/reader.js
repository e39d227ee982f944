export const text = open('./with/text.txt');
