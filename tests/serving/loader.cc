// Loads a SavedModel as TensorFlow Serving does (tensorflow/cc/saved_model/loader.h), without Python, and answers requests.
//
// loader MODEL OUT [OP_LIBRARY...] reads a request a line: "id signature input=tensor.pb ...", each tensor a serialized
// TensorProto; it writes each output to OUT/id.output and prints "id ok", or "id error: why".

#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/cc/saved_model/loader.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor.pb.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/public/session.h"

namespace tf = tensorflow;

tf::Tensor Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  tf::TensorProto proto;
  tf::Tensor tensor;
  if (!proto.ParseFromIstream(&file) || !tensor.FromProto(proto)) {
    std::cerr << "not a tensor: " << path << "\n";
    std::exit(3);
  }
  return tensor;
}

std::string Answer(const tf::SavedModelBundle& bundle, const std::string& out, std::istringstream& line) {
  std::string id, name, word;
  line >> id >> name;
  const auto found = bundle.GetSignatures().find(name);
  if (found == bundle.GetSignatures().end()) return id + " error: no signature " + name;
  std::vector<std::pair<std::string, tf::Tensor>> inputs;
  while (line >> word) {
    const auto at = word.find('=');
    inputs.emplace_back(found->second.inputs().at(word.substr(0, at)).name(), Read(word.substr(at + 1)));
  }
  std::vector<std::string> keys, names;
  for (const auto& [key, info] : found->second.outputs()) {
    keys.push_back(key);
    names.push_back(info.name());
  }
  std::vector<tf::Tensor> outputs;
  const auto status = bundle.session->Run(inputs, names, {}, &outputs);
  if (!status.ok()) {
    const auto message = status.ToString();
    return id + " error: " + message.substr(0, message.find('\n'));
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    tf::TensorProto proto;
    outputs[i].AsProtoTensorContent(&proto);
    std::ofstream file(out + "/" + id + "." + keys[i], std::ios::binary);
    proto.SerializeToOstream(&file);
  }
  return id + " ok";
}

int main(int count, char** arguments) {
  for (int i = 3; i < count; ++i) {
    void* handle = nullptr;
    const auto status = tf::Env::Default()->LoadDynamicLibrary(arguments[i], &handle);
    if (!status.ok()) {
      std::cerr << status.ToString() << "\n";
      return 2;
    }
  }
  tf::SavedModelBundle bundle;
  const auto status = tf::LoadSavedModel(tf::SessionOptions(), tf::RunOptions(), arguments[1], {"serve"}, &bundle);
  if (!status.ok()) {
    std::cerr << status.ToString() << "\n";
    return 1;
  }
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream line(text);
    std::cout << Answer(bundle, arguments[2], line) << std::endl;
  }
}
