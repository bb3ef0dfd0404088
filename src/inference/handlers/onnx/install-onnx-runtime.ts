/** How the runtime is installed. Its own install script would fetch CUDA libraries, and fail where it cannot. */
export const installOnnxRuntime = 'npm install onnxruntime-node@1.30.0 --onnxruntime-node-install=skip';
