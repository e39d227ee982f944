export interface Shape { width: number; height: number }
export const area = (shape: Shape): number => shape.width * shape.height;
